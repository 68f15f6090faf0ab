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
        func serverAnswer(_ response: HttpResponse<Data>) -> ServerAnswer {
            ServerAnswer(response, question, fetch, besides: appFields, requestTime: requestTime, responseTime: now)
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
                learn(from: serverAnswer(response), knowing: stored)
            }
            throw error
        }
        let serverAnswer = serverAnswer(response)
        if let validated, response.status == 304 {
            if let renewed = renew(validated, serverAnswer) { return renewed }
            // The 304 is about something else: a redirect led elsewhere, the resource has a new tag, or the request
            // went out for another account or with another value of a field that the response varies by.
            return try await self.fetch(question, knowing: nil, next)
        }
        learn(from: serverAnswer, knowing: stored)
        return response
    }

    private func learn(from serverAnswer: ServerAnswer, knowing stored: StoredResponse?) {
        if serverAnswer.question.request.method == .head {
            compare(stored, serverAnswer)
        } else {
            store(serverAnswer, replacing: stored)
        }
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
    private func store(_ serverAnswer: ServerAnswer, replacing stored: StoredResponse?) {
        guard serverAnswer.isOwn else { return }
        if let fresh = serverAnswer.stored, keep(fresh, serverAnswer) { return }
        // An error leaves the stored response valid, and so does an answer that must not be kept.
        guard let stored, serverAnswer.response.status < 400, !serverAnswer.mustNotBeKept else { return }
        forget(stored, serverAnswer)
    }

    /// The stored response, renewed by a 304 (RFC 9111 §4.3.4); nil when the 304 is about another response.
    private func renew(_ stored: StoredResponse, _ serverAnswer: ServerAnswer) -> HttpResponse<Data>? {
        guard serverAnswer.isOfTarget, stored.isValidated(by: serverAnswer.response),
            stored.selectors.match(sent: serverAnswer.sent)
        else {
            return nil
        }
        guard let renewed = serverAnswer.renewed(stored) else {
            // The 304 is about this response, which may no longer be kept.
            if serverAnswer.isOwn { forget(stored, serverAnswer) }
            return serve(stored, age: 0, serverAnswer.question, by: serverAnswer.response)
        }
        // An answer that must not be kept does not replace the stored one.
        if serverAnswer.isOwn, !serverAnswer.mustNotBeKept, !keep(renewed, serverAnswer) {
            forget(stored, serverAnswer)
        }
        return serve(renewed, age: freshness(of: renewed).age, serverAnswer.question, by: serverAnswer.response)
    }

    /// Compares the answer to a HEAD with the stored response, and renews or forgets that response (RFC 9111 §4.3.5).
    private func compare(_ stored: StoredResponse?, _ serverAnswer: ServerAnswer) {
        guard serverAnswer.isOwn, let stored, serverAnswer.response.status == 200, stored.status == 200,
            !serverAnswer.mustNotBeKept,
            stored.selectors.match(sent: serverAnswer.sent)
        else { return }
        let renewed = stored.isDescribed(by: serverAnswer.response) ? serverAnswer.renewed(stored) : nil
        if let renewed, keep(renewed, serverAnswer) { return }
        forget(stored, serverAnswer)
    }

    /// - Returns: Whether it is kept.
    private func keep(_ stored: StoredResponse, _ serverAnswer: ServerAnswer) -> Bool {
        let lifetime = freshness(of: stored).lifetime
        guard !serverAnswer.mustNotBeKept,
            StoringRules.allows(
                stored,
                request: serverAnswer.question.control,
                lifetime: lifetime,
                staleIfError: staleIfError
            )
        else { return false }
        return memory.withLock { memory in
            guard memory.store(stored, from: serverAnswer.fetch) else { return false }
            writeVariants(serverAnswer, of: memory)
            return true
        }
    }

    /// Removes a stored response that is outdated by an answer which itself must not be stored.
    private func forget(_ stored: StoredResponse, _ serverAnswer: ServerAnswer) {
        memory.withLock { memory in
            memory.remove(stored, from: serverAnswer.fetch)
            writeVariants(serverAnswer, of: memory)
        }
    }

    /// Writes the stored variants to disk. Begun under the lock, like removals, so that nothing is written after its
    /// removal.
    private func writeVariants(_ serverAnswer: ServerAnswer, of memory: CacheMemory) {
        let (target, partition) = (serverAnswer.question.target, serverAnswer.question.partition)
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
