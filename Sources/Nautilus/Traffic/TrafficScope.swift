/// Marks what runs inside an exchange that holds something others wait for: a slot, or the part of a probe.
///
/// An exchange may need another one: a retrier prepares it, and waits for a refresh that goes to the same origin. That one
/// must not wait for a slot which only its own end would free, nor be refused while the probe that it serves is under way.
final class TrafficScope: Sendable {
    private let holder: ObjectIdentifier
    private let origin: HttpOrigin
    private let outer: TrafficScope?
    private let isHeld = Locked(true)

    /// The innermost scope of the current task, inherited by the tasks that it starts; nil outside of all.
    @TaskLocal private static var current: TrafficScope?

    private init(_ holder: AnyObject, _ origin: HttpOrigin) {
        self.holder = ObjectIdentifier(holder)
        self.origin = origin
        self.outer = Self.current
    }

    /// Whether the current task is part of an exchange with `origin` that `holder` has let through and that goes on.
    static func contains(_ holder: AnyObject, _ origin: HttpOrigin) -> Bool {
        var scope = current
        while let inner = scope {
            if inner.holder == ObjectIdentifier(holder), inner.origin == origin, inner.isHeld.withLock({ $0 }) {
                return true
            }
            scope = inner.outer
        }
        return false
    }

    /// Runs `exchange` as one that `holder` has let through.
    static func run<Value>(
        _ holder: AnyObject,
        _ origin: HttpOrigin,
        _ exchange: () async throws -> Value
    ) async throws -> Value {
        let scope = TrafficScope(holder, origin)
        // Tasks that the exchange leaves behind are on their own.
        defer { scope.isHeld.withLock { $0 = false } }
        return try await $current.withValue(scope) { try await exchange() }
    }
}
