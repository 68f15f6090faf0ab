extension Call {
    /// Stage 3: puts the call's credentials on the request, just before it is sent. If that has taken a wait, the
    /// interceptors are asked again.
    ///
    /// - Returns: The request as it goes out.
    func prepare(_ built: HttpRequest, _ context: AttemptContext) async throws(HttpError) -> HttpRequest {
        var request = built
        // Where the attempt goes, by which a gate holds back the next one.
        lastBuilt = built
        do {
            guard let turn else {
                // Without interceptors, there is one request at a time.
                try await bound.authorize(&request, toServiceAt: context.serviceOrigin)
                try builder.finish(&request)
                return request
            }
            let stamping = Stamping(turn: turn, interceptors: interceptors[...], stopwatch: book.stopwatch)
            try await stamping.run(&request, context) { [bound] request in
                try await bound.authorize(&request, toServiceAt: context.serviceOrigin)
            } finish: { request in
                try self.builder.finish(&request)
            }
            ongoing?.tell(.sending(request, .main))
            return request
        } catch {
            recorder.willSend(built, serviceOrigin: context.serviceOrigin)
            throw failure(error, in: .prepare, delivery: .notSent)
        }
    }
}

extension CallBinding {
    /// How often a request is authorized anew, since a credential has gone while it waited for another one.
    private static var maxRounds: Int { 3 }

    /// Puts the newest credential of each session on a request to the service's own origin; waits for those that cannot be
    /// used yet.
    func authorize(_ request: inout HttpRequest, toServiceAt origin: HttpOrigin) async throws {
        guard !credentials.isEmpty, request.origin == origin else { return }
        let built = request
        for _ in 0..<Self.maxRounds {
            request = built
            // All of them, since one that has looked must not have to look again because of the next.
            let missing = try credentials.filter { try !$0.authorize(&request) }
            if missing.isEmpty { return }
            for credential in missing { try await sessions.list.wait { try await credential.ready() } }
        }
        request = built
        guard try credentials.allSatisfy({ try $0.authorize(&request) }) else { throw CredentialNotReady() }
    }
}

/// The stamping of a request that has passed interceptors: one at a time, and once more if a request has waited for its
/// credential while an interceptor would have held it back. In the end, the interceptors are told that it goes out.
struct Stamping {
    /// The time above which a request must have waited, usually for a credential: 5 ms. Using a credential that is
    /// already there takes less; every refresh takes more.
    private static var longestStamping: Duration { .milliseconds(5) }
    /// How often a request is stamped. A retrier that takes its time whenever it is asked must not keep a request from
    /// ever being sent.
    private static var maxStampings: Int { 3 }

    let turn: Turn
    /// The interceptors that the request has passed.
    let interceptors: ArraySlice<any HttpInterceptor>
    let stopwatch: Stopwatch

    /// Stamps a request, and lets the interceptors look at it again if that has taken long.
    ///
    /// The turn is kept until the request is sent: while it waited for another turn, its credential could grow old, or
    /// an interceptor change its mind.
    ///
    /// - Parameters:
    ///   - request: The request as it has passed the interceptors.
    ///   - stamp: Stamps it; called again if the interceptors have made it wait: meanwhile the credential may have been
    ///     replaced, or its user may have signed out.
    ///   - finish: Makes the stamped request the one that goes out; called once.
    func run(
        _ request: inout HttpRequest,
        _ context: AttemptContext,
        stamp: (inout HttpRequest) async throws -> Void,
        finish: (inout HttpRequest) throws -> Void
    ) async throws {
        let built = request
        var start = stopwatch.elapsed
        try await turn.take()
        defer { turn.give() }
        for _ in 1...Self.maxStampings {
            request = built
            try await stamp(&request)
            guard isLong(since: start) else { break }
            start = stopwatch.elapsed
            for interceptor in interceptors { try await interceptor.readmit(built, context: context) }
            guard isLong(since: start) else { break }
            start = stopwatch.elapsed
        }
        try finish(&request)
        for interceptor in interceptors { interceptor.willSend(built, context: context) }
    }

    private func isLong(since start: Duration) -> Bool { stopwatch.elapsed - start > Self.longestStamping }
}

/// Lets tasks in one at a time, in the order in which they come.
final class Turn: Sendable {
    private struct State: Sendable {
        var isTaken = false
        var line = WaitingLine<Waiter<Void>>()
    }

    private let state = Locked(State())

    /// Returns when it is the caller's turn, which the caller then has to give back.
    ///
    /// - Throws: `CancellationError`.
    func take() async throws {
        let isFree = state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
        if isFree { return }
        try await state.wait { state, waiter in
            defer { state.isTaken = true }
            if state.isTaken { state.line.append(waiter) }
            return !state.isTaken
        } joined: { isFree, waiter in
            if isFree { waiter.resume() }
        } leave: { state, id in
            state.line.remove(id)
        }
    }

    func give() {
        let next = state.withLock { state in
            let next = state.line.popFirst()
            if next == nil { state.isTaken = false }
            return next
        }
        next?.resume()
    }
}
