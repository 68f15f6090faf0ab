import Nautilus

extension ScriptedTransport {
    /// Every attempt so far, in the order of their starts.
    public var attempts: [RecordedAttempt] { state.withLock { $0.attempts } }

    /// How many attempts were started.
    public var count: Int { state.withLock { $0.count } }

    /// How many attempts are in flight now.
    public var inFlightCount: Int { state.withLock { $0.inFlight } }

    /// The most attempts that were in flight at the same time.
    public var maxInFlightCount: Int { state.withLock { $0.maxInFlight } }

    /// The attempts at one route, in the order of their starts; in `path`, a component `*` stands for any one component.
    public func attempts(at method: HttpMethod, _ path: String) -> [RecordedAttempt] {
        let route = ScriptRoute(method: method, path: path)
        return attempts.filter { route.matches($0.request) }
    }

    /// How many attempts were started at one route; in `path`, a component `*` stands for any one component.
    public func count(of method: HttpMethod, _ path: String) -> Int {
        attempts(at: method, path).count
    }

    /// Returns once at least `count` attempts were started, without any real time passing: then cancel, sign out, answer.
    ///
    /// - Throws: `CancellationError` when the task is or becomes cancelled.
    public func waitForAttempts(count: Int) async throws {
        try await state.waitForCount(count)
    }
}

extension ScriptedTransport: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How much was sent: `ScriptedTransport: 3 attempts, 1 in flight`.
    public var description: String { "ScriptedTransport: \(count) attempts, \(inFlightCount) in flight" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows the attempts without their secrets, and no reply, which may be a token.
    public var customMirror: Mirror {
        Mirror(self, children: ["attempts": attempts])
    }
}
