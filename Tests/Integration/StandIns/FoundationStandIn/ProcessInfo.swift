import Foundation

// What processes have on iOS and its like, and not on Linux.

extension ProcessInfo {
    package func performExpiringActivity(
        withReason reason: String,
        using block: @escaping @Sendable (_ expired: Bool) -> Void
    ) {
        block(true)
    }
}
