import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting

/// One process's view of a store that all share: while there is trouble, each thing asked of it may fail, take seconds, or
/// hang for a minute and happen after all.
package final class UnrulyStore: StoreInFront {
    package let base: MemoryStore
    private let clock: ManualClock
    private let random: SeededRandomSource
    private let isTroubled = Locked(false)
    private let isBroken = Locked(false)
    /// How often a troubled store takes its time, and how long at most.
    private let slowness: (share: Double, most: Duration)

    package init(
        _ base: MemoryStore,
        _ clock: ManualClock,
        _ random: SeededRandomSource,
        slowness: (share: Double, most: Duration) = (0.2, .seconds(5))
    ) {
        (self.base, self.clock, self.random, self.slowness) = (base, clock, random, slowness)
    }

    package var isInTrouble: Bool { isTroubled.withLock { $0 } }
    package func trouble(_ isTroubled: Bool) { self.isTroubled.withLock { $0 = isTroubled } }
    /// Has everything fail.
    package func breakDown(_ isBroken: Bool) { self.isBroken.withLock { $0 = isBroken } }

    package func pass(_ operation: StoreOperation) async throws {
        if isBroken.withLock({ $0 }) { throw CredentialStoreError.full(place: "disk") }
        guard isTroubled.withLock({ $0 }) else { return }
        switch random.nextFraction() {
        case ..<0.15: throw CredentialStoreError.full(place: "disk")
        case ..<(0.15 + slowness.share): await wait(slowness.most * random.nextFraction())
        case ..<(0.3 + slowness.share): await wait(.seconds(20) + .seconds(60) * random.nextFraction())
        default: break
        }
    }

    /// As a disk does it: whether the caller is cancelled makes no difference.
    private func wait(_ duration: Duration) async {
        await BackgroundTask.start { [clock] in try? await clock.sleep(for: duration) }.value
    }
}
