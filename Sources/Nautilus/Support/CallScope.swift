/// The call that the current task works for: known on its whole way without being handed on, and only until its end.
///
/// A task-local value reaches every task that is started on the way, also those that are still there when the call has
/// ended: a task begun in `onSuccess`, a token that many callers wait for. So the value has an owner. Once the call has
/// ended, its scope no longer counts, and such a task is not bound by it. A deadline binds even less: the task of the
/// call itself, and through cancellation that task's children, but no task that merely began on the way.
package final class CallScope: Sendable {
    /// The innermost scope that was entered on the way to the current task; its call may have ended.
    @TaskLocal private static var entered: CallScope?

    private static let lastID = Locked<UInt64>(0)

    /// The call's number in this process, from 1.
    package let id: UInt64
    /// The numbers of the calls within which this one was made, the innermost first.
    package let ancestorIDs: [UInt64]
    /// The type of the call's request.
    package let requestType: any Any.Type
    /// How long the call may take; nil for no limit.
    package let deadline: Duration?
    /// Runs since the call began, on the clock of its service.
    package let stopwatch: Stopwatch
    /// How often the call may be attempted; nil when it does not retry.
    package let maxAttempts: (@Sendable () -> Int)?
    /// The facts noted when the call began.
    let facts: CallFacts

    private let task: Int?
    private let state: Locked<State>

    private struct State: Sendable {
        var outer: CallScope?
        var isOver = false
        var isInAttempt = false
    }

    /// A scope within the current one, for a call in the current task.
    package init(
        requestType: any Any.Type,
        deadline: Duration?,
        stopwatch: Stopwatch,
        maxAttempts: (@Sendable () -> Int)? = nil,
        facts: CallFacts = CallFacts()
    ) {
        let outer = CallScope.current
        outer?.forgetEnded()
        self.id = Self.lastID.withLock { last in
            last += 1
            return last
        }
        self.ancestorIDs = Self.openIDs(from: outer)
        self.requestType = requestType
        self.deadline = deadline?.clampedToCentury
        self.stopwatch = stopwatch
        self.maxAttempts = maxAttempts
        self.facts = facts
        self.state = Locked(State(outer: outer))
        self.task = Self.currentTask
    }

    private static func openIDs(from innermost: CallScope?) -> [UInt64] {
        var (scope, ids) = (innermost, [UInt64]())
        while let inner = scope {
            let (isOver, outer) = inner.state.withLock { ($0.isOver, $0.outer) }
            if !isOver { ids.append(inner.id) }
            scope = outer
        }
        return ids
    }

    /// The innermost call that the current task works for and that goes on; nil outside of all.
    package static var current: CallScope? {
        entered?.orGoingOn
    }

    /// This one while it goes on, else the next around it that does.
    private var orGoingOn: CallScope? {
        var scope: CallScope? = self
        while let inner = scope {
            let (isOver, outer) = inner.state.withLock { ($0.isOver, $0.outer) }
            guard isOver else { return inner }
            scope = outer
        }
        return nil
    }

    /// Lets go of the scopes around it that have ended: calls that begin one another would be an endless chain.
    private func forgetEnded() {
        let goingOn = state.withLock({ $0.outer })?.orGoingOn
        let forgotten = state.withLock { state in
            defer { state.outer = goingOn }
            return state.outer
        }
        withExtendedLifetime(forgotten) {}
    }

    /// Whether an attempt is under way, so that work done now is done again in the next one.
    package var isInAttempt: Bool {
        get { state.withLock { $0.isInAttempt } }
        set { state.withLock { $0.isInAttempt = newValue } }
    }

    /// Runs the call, and ends the scope with it.
    package func enter<Value>(_ work: () async -> Value) async -> Value {
        // A web socket enters it again for each connection.
        state.withLock { $0.isOver = false }
        defer {
            state.withLock { $0.isOver = true }
            // A task that was left behind keeps this scope, and must not keep all that were around it.
            forgetEnded()
        }
        return await Self.$entered.withValue(self, operation: work)
    }

    /// Starts work that is no part of any call.
    package static func leave<Value>(_ start: () -> Value) -> Value {
        $entered.withValue(nil, operation: start)
    }

    /// Runs work that is no part of any call.
    package static func runOutside<Value>(_ work: () async -> Value) async -> Value {
        await $entered.withValue(nil, operation: work)
    }

    /// The time that is left until the deadline, never negative; nil when there is none, and in any task but the call's
    /// own.
    ///
    /// A duration and no instant, since a call within this one may have a service with another clock.
    package var remaining: Duration? {
        guard let deadline, task == Self.currentTask else { return nil }
        return max(.zero, deadline - stopwatch.elapsed)
    }

    /// Tells tasks apart while they run; nil outside of all.
    private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }
}

/// The deadline of the call that the current task works for.
public enum CallDeadline {
    /// The time that is left until it, never negative: for a retrier or an interceptor that would wait.
    ///
    /// Nil when the call has none, outside of all calls, and in a task that was started on the way: a deadline binds
    /// its call and nothing that the call leaves behind. A child task is ended by the cancellation of the call's task.
    public static var remaining: Duration? { CallScope.current?.remaining }
}

/// Facts about a call, noted when it began, that a later look could get wrong: whose call it is, for one.
///
/// A call may take long: it waits for its turn, for a retry, for a header that takes time. The user or the environment
/// may have changed by the time that an interceptor sees an attempt, while the call's retrier still has what it was
/// made with. So a part of a service that has to know notes it at the beginning (``ServicePart/noteFacts(of:in:)``),
/// and looks it up when it needs it:
/// ```swift
/// final class Audit: HttpInterceptor {
///     func noteFacts<R: Request>(of request: R, in facts: inout CallFacts) {
///         facts.note(session.userId, by: self)
///     }
///
///     func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
///         let user = context.facts.fact(notedBy: self) as? String
///         …
///     }
/// }
/// ```
public struct CallFacts: Sendable {
    /// Where the call's service was when the call began: its base URL, without the query. Services that differ in it
    /// belong to different environments. Empty while that URL is invalid, and where a test names none.
    public let environment: String
    /// Whether the call is a guest's, made through a service with ``HttpService/isSignedOut``.
    public var isSignedOut = false
    private var facts: [(owner: any AnyObject & Sendable, fact: any Sendable)] = []

    /// Creates an empty collection, as a test of an interceptor does.
    ///
    /// - Parameter environment: The service's base URL. Default: none, since most parts of a service do not ask.
    public init(environment: String = "") {
        self.environment = environment
    }

    /// The facts about the call that the current task works for: for a ``ServiceHook``. Interceptors and transports
    /// have them in ``AttemptContext/facts``. Nil outside of all calls.
    public static var current: CallFacts? { CallScope.current?.facts }

    /// Notes a fact, in place of the one that the same object has noted before.
    ///
    /// - Parameters:
    ///   - fact: The fact.
    ///   - owner: The object that is to find it again; it is kept until the call has ended.
    public mutating func note(_ fact: some Sendable, by owner: any AnyObject & Sendable) {
        facts.removeAll { $0.owner === owner }
        facts.append((owner, fact))
    }

    /// The fact that an object has noted; nil when it has noted none, as an object that the service did not have when
    /// the call began.
    public func fact(notedBy owner: any AnyObject & Sendable) -> (any Sendable)? {
        facts.first { $0.owner === owner }?.fact
    }
}

extension CallFacts: Redacted {
    /// The number of facts; the facts themselves tell whose call it is.
    public var description: String { "\(facts.count) facts" }
}
