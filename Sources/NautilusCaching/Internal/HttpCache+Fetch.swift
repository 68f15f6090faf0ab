import Foundation
import Nautilus

extension HttpCache {
    /// Asks the server, and stores what may be stored.
    ///
    /// - Parameters:
    ///   - question: The request to answer.
    ///   - stored: The response that would answer it; nil when nothing is stored.
    ///   - validates: Whether the server is asked if the stored response has changed, where that is possible.
    ///   - next: The rest of the path.
    func fetch(
        _ question: CacheQuestion,
        knowing stored: StoredResponse?,
        validates: Bool = true,
        _ next: Next
    ) async throws -> HttpResponse<Data> {
        let fetch = memory.withLock { $0.begin(question.target, question.partition) }
        defer { memory.withLock { $0.end(fetch) } }
        let (watch, requestTime) = (ExchangeWatch(question.account, question.context, appFields: appFields), now)
        question.context.follow { event in
            if case .sending(let request, let role) = event { watch.note(request, role) }
        }
        // A HEAD goes to the server, and its answer is compared with the stored response.
        let canValidate = validates && question.request.method == .get && stored?.hasValidator == true
        let validated = canValidate ? stored : nil
        let response: HttpResponse<Data>
        do {
            response = try await next(validated?.validating(question.request) ?? question.request)
        } catch {
            guard error.mayBeServerTrouble, let substitute = substitute(stored, question, watch) else { throw error }
            return substitute
        }
        if Self.serverErrors.contains(response.status), let substitute = substitute(stored, question, watch) {
            return substitute
        }
        let answer = CacheAnswer(response, question, fetch, watch, requestTime: requestTime, responseTime: now)
        if let validated, response.status == 304 {
            if !watch.hasChanged, let renewed = renew(validated, answer) { return renewed }
            // The 304 is about something else: a redirect led elsewhere, the resource has a new tag, or the request
            // went out for another account or with another value of a field that the response varies by.
            return try await self.fetch(question, knowing: nil, next)
        }
        if question.request.method == .head {
            compare(stored, answer)
        } else if question.context.isAnswer(response) {
            store(answer, replacing: stored)
        }
        return response
    }

    /// The stored response that stands in for a failed answer (RFC 5861 §4); nil when none may.
    private func substitute(
        _ stored: StoredResponse?,
        _ question: CacheQuestion,
        _ watch: ExchangeWatch
    ) -> HttpResponse<Data>? {
        guard let stored, !watch.hasChanged else { return nil }
        let freshness = freshness(of: stored)
        let isAllowed = CacheDecision.allowsStaleIfError(
            stored,
            freshness,
            request: question.control,
            standard: staleIfError
        )
        return isAllowed ? serve(stored, age: freshness.age, question) : nil
    }

    /// The statuses that count as an error (RFC 5861 §4).
    private static let serverErrors: Set<Int> = [500, 502, 503, 504, 529]

    /// Stores the answer to a GET, or else forgets the response that it replaces.
    private func store(_ answer: CacheAnswer, replacing stored: StoredResponse?) {
        guard answer.isOwn else { return }
        if let fresh = answer.stored, keep(fresh, answer) { return forgetUndecodable(fresh, answer.question) }
        // An error leaves the stored response valid, and so does an answer that must not be kept.
        guard let stored, answer.response.status < 400, !answer.mustNotBeKept else { return }
        forget(stored, answer)
    }

    /// The stored response, renewed by a 304 (RFC 9111 §4.3.4); nil when the 304 is about another response.
    private func renew(_ stored: StoredResponse, _ answer: CacheAnswer) -> HttpResponse<Data>? {
        guard answer.isOfTarget, stored.isValidated(by: answer.response), stored.selectors.match(sent: answer.sent)
        else {
            return nil
        }
        guard let renewed = answer.renewed(stored) else {
            // The 304 is about this response, which may no longer be kept.
            if answer.isOwn { forget(stored, answer) }
            return serve(stored, age: 0, answer.question, from: answer.response)
        }
        // An answer that must not be kept does not replace the stored one.
        if answer.isOwn, !answer.mustNotBeKept, !keep(renewed, answer) { forget(stored, answer) }
        return serve(renewed, age: freshness(of: renewed).age, answer.question, from: answer.response)
    }

    /// Compares the answer to a HEAD with the stored response, and renews or forgets that response (RFC 9111 §4.3.5).
    private func compare(_ stored: StoredResponse?, _ answer: CacheAnswer) {
        guard answer.isOwn, let stored, answer.response.status == 200, stored.status == 200, !answer.mustNotBeKept,
            stored.selectors.match(sent: answer.sent)
        else { return }
        let renewed = stored.isDescribed(by: answer.response) ? answer.renewed(stored) : nil
        if let renewed, keep(renewed, answer) { return }
        forget(stored, answer)
    }

    /// - Returns: Whether it is kept.
    private func keep(_ stored: StoredResponse, _ answer: CacheAnswer) -> Bool {
        let lifetime = freshness(of: stored).lifetime
        guard !answer.mustNotBeKept,
            StoringRules.allows(
                stored,
                request: answer.question.control,
                lifetime: lifetime,
                staleIfError: staleIfError
            )
        else { return false }
        return memory.withLock { memory in
            guard memory.store(stored, from: answer.fetch) else { return false }
            writeVariants(answer, of: memory)
            return true
        }
    }

    /// Removes a stored response that is outdated by an answer which itself must not be stored.
    private func forget(_ stored: StoredResponse, _ answer: CacheAnswer) {
        memory.withLock { memory in
            memory.remove(stored, from: answer.fetch)
            writeVariants(answer, of: memory)
        }
    }

    /// Writes the stored variants to disk. Begun under the lock, like removals, so that nothing is written after its
    /// removal.
    private func writeVariants(_ answer: CacheAnswer, of memory: CacheMemory) {
        let (target, partition) = (answer.question.target, answer.question.partition)
        disk?.write(memory.variants(target, partition), target, partition)
    }
}

extension AttemptContext {
    /// Whether a response may change what is stored. A response that one type rejects may be an answer to another type,
    /// and a page that cannot be decoded does not come from this server: neither says anything about the stored
    /// response. One whose body has failed is not whole (RFC 9111 §3.3).
    fileprivate func isAnswer(_ response: HttpResponse<Data>) -> Bool {
        guard !response.isReclassified, !response.isIncomplete else { return false }
        if case .undecodable = verdict(on: response) { return false }
        return true
    }
}

extension Error {
    /// Whether the error may come from a server in trouble, or from the way to it, rather than from what this side did.
    fileprivate var mayBeServerTrouble: Bool {
        guard let error = self as? HttpError else { return false }
        switch error.kind {
        case .transport, .timeout, .refused: return true
        default: return false
        }
    }
}
