import Nautilus

/// A request's type and value, as a key.
struct RequestKey: Hashable, Sendable {
    let value: any Hashable & Request

    init(value: some Hashable & Request) {
        self.value = value
    }

    /// The key of a request; nil for one that is not `Hashable`, may change something, or is read while it comes.
    init?(_ request: some Request) {
        guard request.method == .get || request.method == .head, !request.streamsResponse else { return nil }
        guard let value = request as? any Hashable & Request else { return nil }
        self.value = value
    }

    static func == (left: RequestKey, right: RequestKey) -> Bool {
        isEqual(left.value, right.value)
    }

    private static func isEqual<Value: Hashable>(_ left: Value, _ right: any Hashable) -> Bool {
        (right as? Value) == left
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(type(of: value)))
        value.hash(into: &hasher)
    }
}
