import Foundation
import Nautilus

/// The cost to calls of sharing a credential.
enum CoordinatorSuite {
    static let group = "The refresh coordinator"

    static let all: [any Measurable] = [
        Comparison(
            group: group,
            name: "coordinator.current",
            metrics: [.cpu, .allocations],
            subject: current(),
            baseline: lock()
        ),
        Comparison(
            group: group,
            name: "coordinator.credential(), valid",
            metrics: [.cpu, .allocations],
            subject: credential(),
            baseline: actor()
        ),
        ReleaseTime(count: 10_000),
    ]

    private static func current() -> Subject {
        let coordinator = RefreshCoordinator(credential: "0123456789") { $0 }
        return Subject("current") { count in
            var generations = 0
            for _ in 0..<count { generations &+= coordinator.current?.generation ?? 0 }
            try check(generations, count)
        }
    }

    private static func lock() -> Subject {
        let lock = NSLock()
        return Subject("NSLock, lock and unlock") { count in
            for _ in 0..<count { lock.withLock {} }
        }
    }

    private static func credential() -> Subject {
        let coordinator = RefreshCoordinator(credential: "0123456789") { $0 }
        return Subject("credential") { count in
            var generations = 0
            for _ in 0..<count { generations &+= try await coordinator.credential().generation }
            try check(generations, count)
        }
    }

    private static func actor() -> Subject {
        let holder = Holder()
        return Subject("the same from an actor") { count in
            var generations = 0
            for _ in 0..<count { generations &+= await holder.credential().generation }
            try check(generations, count)
        }
    }

    /// The coordinator's fast path, as one would write it with an actor.
    private actor Holder {
        private var held = (value: "0123456789", generation: 0)
        private var expiry: ContinuousClock.Instant? = .now + .seconds(3_600)

        func credential() -> (value: String, generation: Int) {
            if held.generation == 0 { held.generation = 1 }
            if let expiry, expiry < .now { held.generation += 1 }
            return held
        }
    }

    /// Looks at what was computed, so that the optimiser cannot leave it out.
    private static func check(_ generations: Int, _ count: Int) throws {
        guard generations >= count else { throw MeasuredNothing() }
    }
}

/// The subject did not do what it should.
private struct MeasuredNothing: Error {}
