extension Call {
    /// The time above which a retrier must have waited, usually for a credential: 5 ms. Using a credential that is
    /// already there takes less; every refresh takes more.
    private static var longestStamping: Duration { .milliseconds(5) }
    /// The time above which it has waited once more, and not just for a slow store: 100 ms.
    private static var longestSecondStamping: Duration { .milliseconds(100) }
    /// How often the interceptors look again. A retrier that takes its time whenever it is asked must not keep a request
    /// from ever being sent.
    private static var maxReadmissions: Int { 3 }

    /// Lets the interceptors look again at a request whose retrier has waited.
    ///
    /// - Parameter round: How often they have looked again before.
    /// - Returns: Whether they have made it wait once more.
    private func readmit(
        _ built: HttpRequest,
        _ context: AttemptContext,
        waitingSince start: Duration,
        _ round: Int
    ) async throws -> Bool {
        let prepared = book.stopwatch.elapsed
        let longest = round == 0 ? Self.longestStamping : Self.longestSecondStamping
        guard round < Self.maxReadmissions, prepared - start > longest else { return false }
        for interceptor in interceptors { try await interceptor.readmit(built, context: context) }
        return book.stopwatch.elapsed - prepared > Self.longestStamping
    }

    /// Checks that another attempt's session still goes on, before its interceptors wait for anything, or answer it.
    ///
    /// - Throws: The end of the session.
    func checkSession(of built: HttpRequest, _ context: AttemptContext) throws(HttpError) {
        belongsToSession = context.willStamp(built) && !goesUnstamped
        guard belongsToSession, context.number > 1, let end = sequence.endOfSession else { return }
        recorder.willSend(built, serviceOrigin: context.serviceOrigin)
        throw failure(end, in: .prepare, delivery: .notSent)
    }

    /// Stage 3: the retrier's preparation just before the request is sent. If the retrier has waited, the interceptors
    /// are asked again.
    ///
    /// - Returns: The request as it goes out, and whether it is the attempt's own.
    func prepare(_ built: HttpRequest, _ context: AttemptContext) async throws(HttpError) -> (HttpRequest, isOwn: Bool)
    {
        var request = built
        do {
            try await turn?.take()
            defer { turn?.give() }
            belongsToSession = true
            var start = turn == nil ? .zero : book.stopwatch.elapsed
            try await retrier.prepare(&request, context: context)
            var round = 0
            while turn != nil, try await readmit(built, context, waitingSince: start, round) {
                // Meanwhile the credential may have been replaced, or its user may have signed out.
                (request, start, round) = (built, book.stopwatch.elapsed, round + 1)
                try await retrier.prepare(&request, context: context)
            }
            belongsToSession = request.isStamped
            goesUnstamped = !request.isStamped
            // Without interceptors there is no other request.
            let isOwn = try builder.finish(&request, turn == nil ? .own : .passedOn, attempt: context.number)
            ongoing?.tell(.sending(request, isOwn ? .main : .side))
            return (request, isOwn)
        } catch {
            recorder.willSend(built, serviceOrigin: context.serviceOrigin)
            throw failure(error, in: .prepare, delivery: .notSent)
        }
    }
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
