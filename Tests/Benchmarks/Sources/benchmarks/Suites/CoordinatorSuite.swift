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
            name: "coordinator.grant(), valid",
            metrics: [.cpu, .allocations],
            subject: grant(),
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

    private static func grant() -> Subject {
        let coordinator = RefreshCoordinator(credential: "0123456789") { $0 }
        return Subject("grant") { count in
            var generations = 0
            for _ in 0..<count { generations &+= try await coordinator.grant().generation }
            try check(generations, count)
        }
    }

    private static func actor() -> Subject {
        let holder = Holder()
        return Subject("the same from an actor") { count in
            var generations = 0
            for _ in 0..<count { generations &+= await holder.grant().generation }
            try check(generations, count)
        }
    }

    /// The coordinator's fast path, as one would write it with an actor.
    private actor Holder {
        private var credential = (value: "0123456789", generation: 0)
        private var expiry: ContinuousClock.Instant? = .now + .seconds(3_600)

        func grant() -> (value: String, generation: Int) {
            if credential.generation == 0 { credential.generation = 1 }
            if let expiry, expiry < .now { credential.generation += 1 }
            return credential
        }
    }

    /// Looks at what was computed, so that the optimiser cannot leave it out.
    private static func check(_ generations: Int, _ count: Int) throws {
        guard generations >= count else { throw MeasuredNothing() }
    }
}

/// The subject did not do what it should.
private struct MeasuredNothing: Error {}
