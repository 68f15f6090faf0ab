/// A value that one task lends to another.
// Unchecked: the one that lends it waits for the end of the other before it touches the value again, or never does.
final class Confined<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }
}
