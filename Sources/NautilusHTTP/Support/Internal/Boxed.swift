/// A large value in a block of memory of its own, so that passing it on copies one pointer and not its many fields.
///
/// It is still a value: a change is made to a copy if others hold the value, too.
package struct Boxed<Value: Sendable>: Sendable {
    // Unchecked: the value changes only while a single box holds it.
    private final class Storage: @unchecked Sendable {
        var value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private var storage: Storage

    package init(_ value: Value) {
        storage = Storage(value)
    }

    /// The value.
    package var value: Value {
        _read { yield storage.value }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
            yield &storage.value
        }
    }
}

extension Boxed: Equatable where Value: Equatable {
    package static func == (left: Boxed, right: Boxed) -> Bool {
        left.storage === right.storage || left.value == right.value
    }
}

extension Boxed: Hashable where Value: Hashable {
    package func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}
