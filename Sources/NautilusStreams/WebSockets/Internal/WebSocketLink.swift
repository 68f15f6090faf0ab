import Nautilus

/// The current connection of a message stream, shared by its reader, its senders and the task that replaces it.
final class WebSocketLink: Sendable {
    /// A connection with its number, counted from 1.
    struct Open: Sendable {
        let connection: any WebSocketConnection
        let number: Int
    }

    /// A connection that is to be replaced.
    struct Loss: Sendable {
        let error: HttpError
        /// Whether any message had come over the connection.
        let hasReceived: Bool
    }

    fileprivate enum State {
        case open(Open, hasReceived: Bool)
        case lost(number: Int)
        /// Nil for a proper end.
        case ended(HttpError?)
    }

    fileprivate struct Guarded {
        var state: State
        var waiters = WaitQueue<Waiter<Void>>()
    }

    private let guarded: Locked<Guarded>
    /// The connections to replace, one after the other; ends with the link.
    let losses: AsyncStream<Loss>
    private let lossSink: AsyncStream<Loss>.Continuation

    init(_ connection: any WebSocketConnection) {
        self.guarded = Locked(Guarded(state: .open(Open(connection: connection, number: 1), hasReceived: false)))
        (self.losses, self.lossSink) = AsyncStream.makeStream(of: Loss.self)
    }

    /// How many connections there have been.
    var connectionCount: Int {
        guarded.withLock { guarded in
            switch guarded.state {
            case .open(let open, _): open.number
            case .lost(let number): number
            case .ended: 0
            }
        }
    }

    /// The connection, as soon as there is one; nil when the link has ended properly.
    ///
    /// - Throws: The error that the link ended with; `CancellationError`.
    func current() async throws -> Open? {
        while true {
            try Task.checkCancellation()
            switch guarded.withLock({ $0.state }) {
            case .open(let open, _): return open
            case .ended(let error?): throw error
            case .ended(nil): return nil
            case .lost: try await guarded.wait(in: \.waiters) { $0.isLost }
            }
        }
    }

    /// Notes that a message has come over `open`.
    func received(over open: Open) {
        guarded.withLock { guarded in
            guard case .open(let current, false) = guarded.state, current.number == open.number else { return }
            guarded.state = .open(current, hasReceived: true)
        }
    }

    /// Reports `open` as lost; only the first report about a connection counts.
    func lose(_ open: Open, _ error: HttpError) {
        guarded.withLock { guarded in
            guard case .open(let current, let hasReceived) = guarded.state, current.number == open.number else {
                return
            }
            guarded.state = .lost(number: current.number)
            lossSink.yield(Loss(error: error, hasReceived: hasReceived))
        }
    }

    /// Replaces the lost connection by another; false when none is wanted any more.
    func reopened(_ connection: any WebSocketConnection) -> Bool {
        let (waiters, isWanted) = guarded.withLock { guarded -> ([Waiter<Void>], Bool) in
            guard case .lost(let number) = guarded.state else { return ([], false) }
            guarded.state = .open(Open(connection: connection, number: number + 1), hasReceived: false)
            return (guarded.waiters.removeAll(), true)
        }
        waiters.forEach { $0.resume() }
        return isWanted
    }

    /// Ends the link; only the first end counts.
    ///
    /// - Returns: The connection that was open; nil when there was none.
    @discardableResult
    func end(_ error: HttpError? = nil) -> (any WebSocketConnection)? {
        let (connection, waiters) = guarded.withLock { guarded -> ((any WebSocketConnection)?, [Waiter<Void>]) in
            let waiters = guarded.waiters.removeAll()
            switch guarded.state {
            case .ended: return (nil, waiters)
            case .lost:
                guarded.state = .ended(error)
                return (nil, waiters)
            case .open(let open, _):
                guarded.state = .ended(error)
                return (open.connection, waiters)
            }
        }
        lossSink.finish()
        waiters.forEach { $0.resume() }
        return connection
    }
}

extension WebSocketLink.Guarded {
    fileprivate var isLost: Bool { if case .lost = state { true } else { false } }
}
