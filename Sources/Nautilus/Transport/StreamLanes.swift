/// Sessions for exchanges whose bodies are streamed, one for each at a time.
///
/// A reader that is slower than the network holds up the queue of the session, on Linux the only way to slow a server
/// down, and everything else on the same session with it. What has ended well leaves its session, and its connection, to
/// the next.
final class StreamLanes: Sendable {
    private struct Waiter {
        let ticket: Int
        let continuation: CheckedContinuation<ExchangeSession?, any Error>
    }

    private struct State {
        /// How many more there may be at once.
        var free: Int
        var idle: [ExchangeSession] = []
        var waiters: [Waiter] = []
        var lastTicket = 0
    }

    private let state: Locked<State>
    private let configuration: URLSessionTransport.Configuration

    init(_ configuration: URLSessionTransport.Configuration) {
        self.configuration = configuration
        self.state = Locked(State(free: max(1, configuration.streamsAtOnce)))
    }

    /// A lane for one exchange, as soon as there is one; those who wait are served in the order in which they came.
    ///
    /// - Throws: `CancellationError`.
    func take() async throws -> StreamLane {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        let session = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enter(Waiter(ticket: ticket, continuation: continuation))
            }
        } onCancel: {
            leave(ticket)
        }
        return StreamLane(session ?? ExchangeSession(configuration), of: self)
    }

    private func enter(_ waiter: Waiter) {
        let outcome = state.withLock { state -> Result<ExchangeSession?, any Error>? in
            // Under the lock, as its own part is: whichever comes second finds the other.
            if Task.isCancelled { return .failure(CancellationError()) }
            guard state.free > 0 else {
                state.waiters.append(waiter)
                return nil
            }
            state.free -= 1
            return .success(state.idle.popLast())
        }
        if let outcome { waiter.continuation.resume(with: outcome) }
    }

    private func leave(_ ticket: Int) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.ticket == ticket }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }

    /// Takes a lane back.
    ///
    /// - Parameter session: Its session, where the next one may use it; nil where it may not.
    fileprivate func giveBack(_ session: ExchangeSession?) {
        let next = state.withLock { state -> Waiter? in
            if !state.waiters.isEmpty { return state.waiters.removeFirst() }
            state.free += 1
            if let session { state.idle.append(session) }
            return nil
        }
        next?.continuation.resume(returning: session)
    }
}

/// A session that carries one exchange; given back once, at the latest when nobody holds it any more.
final class StreamLane: Sendable {
    let session: ExchangeSession
    private let lanes: Locked<StreamLanes?>

    fileprivate init(_ session: ExchangeSession, of lanes: StreamLanes) {
        self.session = session
        self.lanes = Locked(lanes)
    }

    /// - Parameter isReusable: Whether its connection is at rest: what was broken off is not.
    func giveBack(isReusable: Bool) {
        lanes.withLock { $0.take() }?.giveBack(isReusable ? session : nil)
    }

    deinit {
        giveBack(isReusable: false)
    }
}
