import Foundation
import Nautilus

/// A lock that its holding thread may take again: the coordinator calls its observer while the lock is held, and an
/// observer may sign out.
struct ReentrantLock: Sendable {
    // Not of type Void: values without a size share an address, which the thread sanitizer takes for a race.
    private let lock = Locked(false)
    private let holder = Locked<ObjectIdentifier?>(nil)

    /// Runs `work` while no other thread holds the lock.
    func withLock<Value>(_ work: () -> Value) -> Value {
        let thread = ObjectIdentifier(Thread.current)
        if holder.withLock({ $0 == thread }) { return work() }
        var value: Value?
        lock.withLock { _ in
            holder.withLock { $0 = thread }
            value = work()
            holder.withLock { $0 = nil }
        }
        guard let value else { preconditionFailure("the work has ended") }
        return value
    }
}
