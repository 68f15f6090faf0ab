/// The identity of a call, the same in its events, its trace, its errors and the contexts of its attempts.
///
/// It distinguishes two calls of one request type; and if an interceptor or a retrier makes a call within another one,
/// its identity names the outer call.
public struct CallIdentity: Sendable, Hashable, CustomStringConvertible {
    /// The call's number in this process, from 1; 0 for no call, as in a context that a test has made.
    public let id: UInt64
    /// The numbers of the calls within which this one was made, the innermost first and at most 16; empty when there is
    /// none, or when it had already ended then.
    package let ancestors: [UInt64]
    /// The type of the call's request; nil for no call.
    package let requestType: (any Any.Type)?

    /// The identity of no call.
    public static let none = CallIdentity(id: 0, ancestors: [], requestType: nil)

    /// Creates the identity of a call that was never made, for the test of an observer.
    ///
    /// - Parameters:
    ///   - id: The call's number.
    ///   - parent: The number of the enclosing call. Default: nil, none.
    ///   - requestType: The type of the call's request.
    public init(id: UInt64, parent: UInt64? = nil, requestType: any Any.Type) {
        self.init(id: id, ancestors: parent.map { [$0] } ?? [], requestType: .some(requestType))
    }

    init(id: UInt64, ancestors: [UInt64], requestType: (any Any.Type)?) {
        (self.id, self.ancestors, self.requestType) = (id, ancestors, requestType)
    }

    /// The number of the call within which this one was made; nil when there is none, or when it had already ended
    /// then.
    public var parent: UInt64? { ancestors.first }

    /// The name of the request's type; empty for no call.
    public var request: String { requestType.map { String(describing: $0) } ?? "" }

    /// The request's type and the number, `GetNote (call 17)`; with the enclosing call, `GetNote (call 18 in call 17)`.
    public var description: String { description(of: nil) }

    /// The same with the number of one of its attempts, `GetNote (call 17, attempt 2)`.
    package func description(of attempt: Int?) -> String {
        guard id > 0 else { return "no call" }
        let place = "call \(id)" + (parent.map { " in call \($0)" } ?? "")
        return "\(request) (\(place)\(attempt.map { ", attempt \($0)" } ?? ""))"
    }

    /// Calls are the same when their numbers are.
    public static func == (left: CallIdentity, right: CallIdentity) -> Bool { left.id == right.id }

    /// Hashes the number.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
