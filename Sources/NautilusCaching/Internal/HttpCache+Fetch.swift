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
        let requestTime = now
        // A HEAD goes to the server, and its answer is compared with the stored response.
        let canValidate = validates && question.request.method == .get && stored?.hasValidator == true
        let validated = canValidate ? stored : nil
        func answer(_ response: HttpResponse<Data>) -> CacheAnswer {
            CacheAnswer(response, question, fetch, besides: appFields, requestTime: requestTime, responseTime: now)
        }
        let response: HttpResponse<Data>
        do {
            response = try await next(
                validated?.validating(question.request) ?? question.request,
                accepting: validated == nil ? [] : 304,
                // A stale answer is better than a long wait.
                surfacing: substitute(stored, question) == nil
                    ? nil : { $0.mayBeServerTrouble && self.substitute(stored, question) != nil }
            )
        } catch {
            if error.mayBeServerTrouble, let substitute = substitute(stored, question) { return substitute }
            // That there is nothing may be stored, too.
            if case .status? = (error as? HttpError)?.kind, let response = question.context.lastAnswer,
                !response.isReclassified, !response.isIncomplete
            {
                learn(from: answer(response), knowing: stored)
            }
            throw error
        }
        let answer = answer(response)
        if let validated, response.status == 304 {
            if let renewed = renew(validated, answer) { return renewed }
            // The 304 is about something else: a redirect led elsewhere, the resource has a new tag, or the request
            // went out for another account or with another value of a field that the response varies by.
            return try await self.fetch(question, knowing: nil, next)
        }
        learn(from: answer, knowing: stored)
        return response
    }

    private func learn(from answer: CacheAnswer, knowing stored: StoredResponse?) {
        if answer.question.request.method == .head { compare(stored, answer) } else { store(answer, replacing: stored) }
    }

    /// The stored response that stands in for a failed answer (RFC 5861 §4); nil when none may.
    private func substitute(
        _ stored: StoredResponse?,
        _ question: CacheQuestion
    ) -> HttpResponse<Data>? {
        guard let stored, question.isCurrent else { return nil }
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
    fileprivate static let serverErrors: Set<Int> = [500, 502, 503, 504, 529]

    /// Stores the answer to a GET, or else forgets the response that it replaces.
    private func store(_ answer: CacheAnswer, replacing stored: StoredResponse?) {
        guard answer.isOwn else { return }
        if let fresh = answer.stored, keep(fresh, answer) { return }
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

extension Error {
    /// Whether the error may come from a server in trouble, or from the way to it, rather than from what this side did.
    fileprivate var mayBeServerTrouble: Bool {
        guard let error = self as? HttpError else { return false }
        switch error.kind {
        case .transport, .timeout, .refused: return true
        case .status(let status): return HttpCache.serverErrors.contains(status)
        // The credential could not be refreshed for now, as while the device is offline.
        case .authorization: return (error.underlying as? any RefreshFailure)?.isTransient == true
        default: return false
        }
    }
}
