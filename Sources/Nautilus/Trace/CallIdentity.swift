/// Which call it is: the same in its events, its trace, its errors and the contexts of its attempts.
///
/// Two calls of one request type are told apart by it, and a call that was made within another one, by an interceptor or
/// a retrier of that one, names it.
public struct CallIdentity: Sendable, Hashable, CustomStringConvertible {
    /// The call's number in this process, from 1; 0 for none, as in a context that a test has made.
    public let id: UInt64
    /// The numbers of the calls within which this one was made, the innermost first: they wait for it. Those that had ended
    /// by then are not among them.
    public let ancestors: [UInt64]
    private let requestType: (any Any.Type)?

    /// The identity of no call.
    public static let none = CallIdentity(id: 0, ancestors: [], requestType: nil)

    /// An identity of a call that never was, as a test of an observer needs it.
    ///
    /// - Parameters:
    ///   - id: The call's number.
    ///   - parent: The number of the call around it. Default: nil, none.
    ///   - requestType: The type of its request.
    public init(id: UInt64, parent: UInt64? = nil, requestType: any Any.Type) {
        self.init(id: id, ancestors: parent.map { [$0] } ?? [], requestType: .some(requestType))
    }

    private init(id: UInt64, ancestors: [UInt64], requestType: (any Any.Type)?) {
        (self.id, self.ancestors, self.requestType) = (id, ancestors, requestType)
    }

    init(_ scope: CallScope) {
        self.init(id: scope.id, ancestors: scope.ancestorIDs, requestType: scope.requestType)
    }

    /// The number of the call within which this one was made; nil when it was made within none, or within one that had
    /// ended by then.
    public var parent: UInt64? { ancestors.first }

    /// The name of the request's type; empty for no call.
    public var request: String { requestType.map { String(describing: $0) } ?? "" }

    /// The request's type and the number, `GetNote #17`; with the call around it, `GetNote #18 in #17`.
    public var description: String {
        "\(request) #\(id)" + (parent.map { " in #\($0)" } ?? "")
    }

    /// Calls are the same when their numbers are.
    public static func == (left: CallIdentity, right: CallIdentity) -> Bool { left.id == right.id }

    /// Hashes the number.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
