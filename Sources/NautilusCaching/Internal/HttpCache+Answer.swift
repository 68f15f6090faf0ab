import Foundation
import Nautilus

extension HttpCache {
    /// Answers with the stored response if the rules allow it, or asks the server.
    func answer(_ question: CacheQuestion, _ next: Next) async throws -> HttpResponse<Data> {
        let stored = await find(question)
        // The user has left while the disk was read.
        guard question.account.isCurrent else { return try await next(question.request) }
        if CacheRevalidation.current(for: question.target, in: self) != nil {
            return try await fetch(question, knowing: stored, next)
        }
        let decision = CacheDecision(
            stored: stored,
            freshness: stored.map(freshness(of:)),
            request: question.control,
            isRetry: question.context.number > 1
        )
        switch decision {
        case .serve(let age):
            guard let stored else { break }
            return serve(stored, age: age, question)
        case .serveWhileRevalidating(let age):
            guard let stored else { break }
            guard begin(question) else { return serve(stored, age: age, question) }
            // Serve at once if the call can be repeated in the background to ask the server.
            if let callAgain = question.context.callAgain {
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

    /// Returns a stored response as the answer to `question`, with its age (RFC 9111 §4, §5.1), and forgets it if it
    /// cannot be decoded.
    ///
    /// - Parameter answer: The server's answer that permits serving the stored response, which then counts as its
    ///   exchange; nil when nothing was sent.
    func serve(
        _ stored: StoredResponse,
        age: Int64,
        _ question: CacheQuestion,
        from answer: HttpResponse<Data>? = nil
    ) -> HttpResponse<Data> {
        forgetUndecodable(stored, question)
        var response = answer ?? HttpResponse(body: Data())
        response.status = stored.status
        response.header = stored.header
        response.header[.age] = String(max(0, min(age, CacheControl.longest)))
        response.body = question.request.method == .head ? Data() : stored.body
        return response
    }

    /// Forgets a response when the attempt that gets it cannot decode it.
    ///
    /// The sign-in page of a captive network comes with the URL, the status and the headers of a real answer: only the
    /// request's type can tell that it is not one.
    func forgetUndecodable(_ stored: StoredResponse, _ question: CacheQuestion) {
        let (target, partition, bodyID) = (question.target, question.partition, stored.bodyID)
        question.context.follow { [self] event in
            guard case .failed(let error) = event, error.isUndecodable else { return }
            memory.withLock { memory in
                memory.remove(bodyID: bodyID, target, partition)
                disk?.write(memory.variants(target, partition), target, partition)
            }
        }
    }

    /// The stored response for a request, in memory or else on disk.
    private func find(_ question: CacheQuestion) async -> StoredResponse? {
        let (request, target, partition) = (question.request, question.target, question.partition)
        if let stored = memory.withLock({ $0.find(target, partition, request) }) { return stored }
        guard let disk else { return nil }
        let fetch = memory.withLock { $0.begin(target, partition) }
        let variants = await disk.read(target, partition)
        return memory.withLock { memory in
            // A response that was stored meanwhile is newer.
            if memory.variants(target, partition).isEmpty {
                for stored in variants { _ = memory.store(stored, from: fetch) }
            }
            memory.end(fetch)
            return memory.find(target, partition, request)
        }
    }
}

extension HttpCache {
    private func begin(_ question: CacheQuestion) -> Bool {
        memory.withLock { $0.beginRevalidation(question.target, question.partition) }
    }

    private func end(_ question: CacheQuestion) {
        memory.withLock { $0.endRevalidation(question.target, question.partition) }
    }

    /// Asks the server in a separate call with its own retrier, in the background.
    private func revalidate(_ question: CacheQuestion, _ callAgain: @escaping @Sendable () async -> Void) {
        BackgroundTask.start { [self] in
            await CacheRevalidation(question, in: self).run(callAgain)
            end(question)
        }
    }
}

extension HttpError {
    /// Whether the answer could not be understood by its request.
    fileprivate var isUndecodable: Bool {
        guard stage == .decode else { return false }
        // The caller, or the deadline, ended the call while the answer was being decoded.
        if case .deadline = kind { return false }
        return kind != .cancelled
    }
}
