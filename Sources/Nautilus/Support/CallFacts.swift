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
    private var facts: [(owner: any AnyObject & Sendable, fact: any Sendable)] = []

    /// Creates an empty collection, as a test of an interceptor does.
    ///
    /// - Parameter environment: The service's base URL. Default: none, since most parts of a service do not ask.
    public init(environment: String = "") {
        self.environment = environment
    }

    /// The facts about the call that the current task works for: for a ``ServiceHook``. Interceptors and transports have
    /// them in ``AttemptContext/facts``. Nil outside of all calls.
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

    /// The fact that an object has noted; nil when it has noted none, as an object that the service did not have when the
    /// call began.
    public func fact(notedBy owner: any AnyObject & Sendable) -> (any Sendable)? {
        facts.first { $0.owner === owner }?.fact
    }
}

extension CallFacts: CustomStringConvertible, CustomReflectable {
    /// How many facts there are, and none of them: they tell whose call it is.
    public var description: String { "\(facts.count) facts" }

    /// Shows the description.
    public var customMirror: Mirror { Mirror(self, children: ["facts": description]) }
}
