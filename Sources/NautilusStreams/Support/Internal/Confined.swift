/// A value that one task lends to another.
// Unchecked: the lending task waits for the other to end before it uses the value again, or never uses it again.
final class Confined<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }
}
