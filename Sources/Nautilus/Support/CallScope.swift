/// The call that the current task works for, known everywhere within the call without being passed on, until the call
/// ends.
///
/// A task-local value reaches every task that is started within the call, even a task that outlives the call: one begun
/// in `onSuccess`, or one that fetches a token for many callers. So the scope ends with its call, and does not bind
/// such tasks any longer. A deadline binds even less: only the call's own task and, through cancellation, that task's
/// children, but no other task started within the call.
package struct CallScope: Sendable {
    /// The innermost scope that was entered around the current task; its call may have ended.
    @TaskLocal private static var entered: CallScope?

    private static let lastID = Locked<UInt64>(0)

    private let state: Locked<State>

    private struct State: Sendable {
        let constants: Constants
        var outer: CallScope?
        var isOver = false
    }

    /// The facts about a call that never change.
    package struct Constants: Sendable {
        /// The call's number in this process, from 1.
        package let id: UInt64
        /// The numbers of the calls within which this one was made, the innermost first.
        package let ancestorIDs: [UInt64]
        /// The type of the call's request.
        package let requestType: any Any.Type
        /// How long the call may take; nil for no limit.
        package let deadline: Duration?
        /// The time since the call began, on the clock of its service.
        package let stopwatch: Stopwatch
        /// The facts that the service's parts have noted.
        let facts: CallFacts
        /// The call's task; nil outside of all tasks.
        fileprivate let task: Int?
    }

    /// Creates a scope within the current one, for a call in the current task.
    package init(
        requestType: any Any.Type,
        deadline: Duration?,
        stopwatch: Stopwatch,
        facts: CallFacts = CallFacts()
    ) {
        let outer = CallScope.current
        outer?.forgetEnded()
        let id = Self.lastID.withLock { last in
            last += 1
            return last
        }
        let constants = Constants(
            id: id,
            ancestorIDs: Self.openIDs(from: outer),
            requestType: requestType,
            deadline: deadline?.clampedToCentury,
            stopwatch: stopwatch,
            facts: facts,
            task: Self.currentTask
        )
        self.state = Locked(State(constants: constants, outer: outer))
    }

    package var constants: Constants { state.withLock { $0.constants } }

    /// The call's number in this process, from 1.
    package var id: UInt64 { state.withLock { $0.constants.id } }

    /// The object behind the scope, by which a test sees that the scope is released.
    package var object: AnyObject { state.object }

    private static func openIDs(from innermost: CallScope?) -> [UInt64] {
        var (scope, ids) = (innermost, [UInt64]())
        while let inner = scope {
            let (isOver, outer) = inner.state.withLock { ($0.isOver, $0.outer) }
            if !isOver { ids.append(inner.id) }
            scope = outer
        }
        return ids
    }

    /// The innermost call that the current task works for and that has not ended; nil outside of all calls.
    package static var current: CallScope? {
        entered?.orGoingOn
    }

    /// This scope if its call goes on, otherwise the next outer scope whose call does.
    private var orGoingOn: CallScope? {
        var scope: CallScope? = self
        while let inner = scope {
            let (isOver, outer) = inner.state.withLock { ($0.isOver, $0.outer) }
            guard isOver else { return inner }
            scope = outer
        }
        return nil
    }

    /// Releases the outer scopes that have ended, since calls that start one another would otherwise form an endless
    /// chain.
    private func forgetEnded() {
        let goingOn = state.withLock({ $0.outer })?.orGoingOn
        let forgotten = state.withLock { state in
            defer { state.outer = goingOn }
            return state.outer
        }
        withExtendedLifetime(forgotten) {}
    }

    /// Runs the call, and ends the scope with it.
    package func enter<Value>(_ work: () async -> Value) async -> Value {
        defer {
            state.withLock { $0.isOver = true }
            // A task that outlives the call keeps this scope, but must not keep all outer ones, too.
            forgetEnded()
        }
        return await Self.$entered.withValue(self, operation: work)
    }

    /// Starts work that belongs to no call.
    package static func leave<Value>(_ start: () -> Value) -> Value {
        $entered.withValue(nil, operation: start)
    }

    /// Runs work that belongs to no call.
    package static func runOutside<Value>(_ work: () async -> Value) async -> Value {
        await $entered.withValue(nil, operation: work)
    }

    /// The time left until the deadline, never negative; nil if there is no deadline, and in any task but the call's
    /// own.
    ///
    /// A duration rather than an instant, since a call within this one may have a service with another clock.
    package var remaining: Duration? {
        let constants = constants
        guard let deadline = constants.deadline, constants.task == Self.currentTask else { return nil }
        return max(.zero, deadline - constants.stopwatch.elapsed)
    }

    /// A number that tells running tasks apart; nil outside of all tasks.
    private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }
}

/// The deadline of the call that the current task works for.
public enum CallDeadline {
    /// The time left until the deadline, never negative, for a retrier or an interceptor that is about to wait.
    ///
    /// Nil if the call has no deadline, outside of all calls, and in another task started within the call: a deadline
    /// does not bind tasks that may outlive the call. Child tasks are ended by the cancellation of the call's task.
    public static var remaining: Duration? { CallScope.current?.remaining }
}

/// Facts about a call, noted when it begins since they may change later, such as whose call it is.
///
/// A call may take long: it waits for its turn, for a retry, for a header that takes time. By the time that an
/// interceptor sees an attempt, the user or the environment may have changed, while the call's retrier still belongs to
/// the old one. So a part of a service that needs such a fact notes it at the beginning
/// (``ServicePart/noteFacts(of:in:)``), and looks it up later:
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
    /// The base URL of the call's service when the call began, without the query. Services with different values belong
    /// to different environments. Empty if the URL is invalid, or a test names none.
    public let environment: String
    /// Whether the call is a guest's, made through a service with ``HttpService/signedOut``.
    public var isSignedOut = false
    private var facts: [(owner: any AnyObject & Sendable, fact: any Sendable)] = []

    /// Creates a value without facts, for a test of an interceptor.
    ///
    /// - Parameter environment: The service's base URL. Default: none, since most parts of a service do not use it.
    public init(environment: String = "") {
        self.environment = environment
    }

    /// The facts about the call that the current task works for; nil outside of all calls. Meant for a ``ServiceHook``;
    /// interceptors and transports have them in ``AttemptContext/facts``.
    public static var current: CallFacts? { CallScope.current?.constants.facts }

    /// Notes a fact, replacing the one that the same object has noted before.
    ///
    /// - Parameters:
    ///   - fact: The fact.
    ///   - owner: The object that will look the fact up; it is kept alive until the call has ended.
    public mutating func note(_ fact: some Sendable, by owner: any AnyObject & Sendable) {
        facts.removeAll { $0.owner === owner }
        facts.append((owner, fact))
    }

    /// Returns the fact that an object has noted; nil if it has noted none, for instance because it was not part of the
    /// service when the call began.
    public func fact(notedBy owner: any AnyObject & Sendable) -> (any Sendable)? {
        facts.first { $0.owner === owner }?.fact
    }
}

extension CallFacts: Redacted {
    /// The number of facts, without the facts, which may tell whose call it is.
    public var description: String { "\(facts.count) facts" }
}
