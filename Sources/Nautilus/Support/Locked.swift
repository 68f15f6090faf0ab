import Foundation

/// A value behind a lock, for the few types that are shared between calls.
///
/// Built on `NSLock`: `Synchronization.Mutex` needs newer systems than this package's floor, and the thread
/// sanitizer reports false races on it.
package final class Locked<Value>: @unchecked Sendable {
    // Unchecked: `value` is only touched between `lock()` and `unlock()`.
    private let lock = NSLock()
    private var value: Value  // guarded by lock

    package init(_ value: sending Value) {
        self.value = value
    }

    /// Runs `body` alone with the value. Never call user code, and never suspend, in `body`.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
