import Foundation

extension HttpCache {
    /// Answers from what is stored, where the rules allow it.
    func answer(
        _ question: CacheQuestion,
        _ context: AttemptContext,
        _ next: Next
    ) async throws -> HttpResponse<Data> {
        let stored = await find(question)
        if let revalidation = CacheRevalidation.current, revalidation.isFor(question.target, in: self) {
            // The account has changed since: its answers are nothing that this call may ask for.
            guard revalidation.partition == question.partition else { throw CancellationError() }
            return try await fetch(question, knowing: stored, next)
        }
        let decision = CacheDecision(
            stored: stored,
            freshness: stored.map(freshness(of:)),
            request: question.control,
            isRetry: context.number > 1
        )
        switch decision {
        case .serve(let age):
            guard let stored else { break }
            return serve(stored, age: age, question)
        case .serveWhileRevalidating(let age):
            guard let stored else { break }
            guard begin(question) else { return serve(stored, age: age, question) }
            // Served at once, where somebody else can ask: the call itself, once more, for nobody.
            if let callAgain = context.callAgain {
                revalidate(question, callAgain)
                return serve(stored, age: age, question)
            }
            defer { end(question) }
            return try await fetch(question, knowing: stored, next)
        case .validate:
            return try await fetch(question, knowing: stored, next)
        case .forward:
            return try await fetch(question, knowing: stored, validates: false, next)
        case .unavailable:
            break
        }
        throw HttpError(
            .refused(.notStored),
            stage: .intercept,
            delivery: .notSent,
            response: HttpResponse(status: 504, body: Data())
        )
    }

    /// A stored response as the answer, of which those around are told whether it is one account's: nothing is stamped
    /// that would tell them.
    func serve(_ stored: StoredResponse, age: Int64, _ question: CacheQuestion) -> HttpResponse<Data> {
        if question.partition.account != nil { CredentialWatch.current?.note(servingAccountTo: question.request) }
        return response(stored, age: age, to: question.request)
    }

    /// A stored response as the answer to `request`, with its age (RFC 9111 §4, §5.1).
    func response(_ stored: StoredResponse, age: Int64, to request: HttpRequest, url: URL? = nil) -> HttpResponse<Data>
    {
        var header = stored.header
        header[.age] = String(max(0, min(age, CacheControl.longest)))
        return HttpResponse(
            status: stored.status,
            header: header,
            body: request.method == .head ? Data() : stored.body,
            url: url
        )
    }

    /// What is stored for a request, in memory or else on disk.
    private func find(_ question: CacheQuestion) async -> StoredResponse? {
        let (request, target, partition) = (question.request, question.target, question.partition)
        if let stored = core.withLock({ $0.find(target, partition, request) }) { return stored }
        guard let disk else { return nil }
        let fetch = core.withLock { $0.begin(target, partition) }
        let variants = await disk.read(target, partition)
        return core.withLock { core in
            // A response that has come meanwhile is newer.
            if core.variants(target, partition).isEmpty {
                for stored in variants { _ = core.store(stored, from: fetch) }
            }
            core.end(fetch)
            return core.find(target, partition, request)
        }
    }
}

extension HttpCache {
    private func begin(_ question: CacheQuestion) -> Bool {
        core.withLock { $0.beginRevalidation(question.target, question.partition) }
    }

    private func end(_ question: CacheQuestion) {
        core.withLock { $0.endRevalidation(question.target, question.partition) }
    }

    /// Asks the server in a call of its own, with its own retrier, which nobody waits for.
    private func revalidate(_ question: CacheQuestion, _ callAgain: @escaping @Sendable () async -> Void) {
        BackgroundTask.start { [self] in
            await CacheRevalidation.$current.withValue(CacheRevalidation(question, in: self)) { await callAgain() }
            end(question)
        }
    }
}
