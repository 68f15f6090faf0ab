import Foundation
import Nautilus

extension HttpCache {
    /// Answers with the stored response if the rules allow it, or asks the server.
    func answer(_ question: CacheQuestion, _ next: Next) async throws -> HttpResponse<Data> {
        let stored = await find(question)
        if CacheRevalidation.current(for: question.target, in: self) != nil {
            return try await fetch(question, knowing: stored, next)
        }
        switch CacheDecision(stored: stored, freshness: stored.map(freshness(of:)), request: question.control) {
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
            defer { end(question.target, question.partition) }
            return try await fetch(question, knowing: stored, next)
        case .validate:
            return try await fetch(question, knowing: stored, next)
        case .forward:
            return try await fetch(question, knowing: stored, validates: false, next)
        case .unavailable:
            break
        }
        throw HttpError.nothingStored
    }

    /// Returns a stored response as the answer to `question`, with its age (RFC 9111 §4, §5.1).
    ///
    /// - Parameter permission: The server's answer that permits serving the stored response, which then counts as its
    ///   exchange; nil when nothing was sent.
    func serve(
        _ stored: StoredResponse,
        age: Int64,
        _ question: CacheQuestion,
        by permission: HttpResponse<Data>? = nil
    ) -> HttpResponse<Data> {
        var response = permission ?? HttpResponse(body: Data())
        response.status = stored.status
        response.header = stored.header
        response.header[.age] = String(max(0, min(age, CacheControl.longest)))
        response.body = question.request.method == .head ? Data() : stored.body
        return response
    }

    /// Asks the server on behalf of a call that could not read the stored response, which is forgotten.
    ///
    /// The sign-in page of a captive network comes with the URL, the status and the headers of a real answer: only the
    /// request's type can tell that it is not one.
    func answerAnew(_ question: CacheQuestion, _ next: Next) async throws -> HttpResponse<Data> {
        if let stored = await find(question) {
            let (target, partition) = (question.target, question.partition)
            memory.withLock { memory in
                memory.remove(bodyID: stored.bodyID, target, partition)
                disk?.write(memory.variants(target, partition), target, partition)
            }
        }
        return try await fetch(question, knowing: nil, next)
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

    private func end(_ target: CacheTarget, _ partition: CachePartition) {
        memory.withLock { $0.endRevalidation(target, partition) }
    }

    /// Asks the server in a separate call with its own retrier, in the background.
    private func revalidate(_ question: CacheQuestion, _ callAgain: @escaping @Sendable () async -> Void) {
        let (target, partition) = (question.target, question.partition)
        let revalidation = CacheRevalidation(question, in: self)
        BackgroundTask.start { [self] in
            await revalidation.run(callAgain)
            end(target, partition)
        }
    }
}

extension HttpError {
    /// The failure of a request that accepts only a stored response when there is none.
    static var nothingStored: HttpError {
        HttpError(
            .refused(.notStored),
            stage: .intercept,
            delivery: .notSent,
            response: HttpResponse(status: 504, body: Data())
        )
    }
}

/// A mark on the call that asks the server again about a response that has just been served stale.
final class CacheRevalidation: Sendable {
    @TaskLocal private static var entered: CacheRevalidation?

    let partition: CachePartition
    private let cache: ObjectIdentifier
    private let target: CacheTarget
    private let isOver = Locked(false)

    init(_ question: CacheQuestion, in cache: HttpCache) {
        (self.cache, target, partition) = (ObjectIdentifier(cache), question.target, question.partition)
    }

    /// Makes the call, with this mark.
    func run(_ call: () async -> Void) async {
        // Tasks that the call leaves behind make ordinary requests.
        defer { isOver.withLock { $0 = true } }
        await Self.$entered.withValue(self, operation: call)
    }

    /// The mark of the current task if it has to ask the server for `target`, whatever `cache` has stored; nil in any
    /// other call.
    static func current(for target: CacheTarget, in cache: HttpCache) -> CacheRevalidation? {
        guard let mark = entered, mark.cache == ObjectIdentifier(cache), mark.target == target,
            !mark.isOver.withLock({ $0 })
        else { return nil }
        return mark
    }
}
