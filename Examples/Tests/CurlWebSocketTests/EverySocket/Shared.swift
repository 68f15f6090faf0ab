import Foundation

/// A value that a server and a test share.
final class Shared<Value>: @unchecked Sendable {
    // Unchecked: touched under the lock only.
    private let lock = NSLock()
    private var value: Value

    init(_ value: sending Value) {
        self.value = value
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
