import Foundation
import Nautilus

/// What calls pay for sharing a credential.
enum CoordinatorSuite {
    static let group = "The refresh coordinator"

    static let all: [any Measurable] = [
        Comparison(
            group: group,
            name: "coordinator.current",
            metrics: [.time, .allocations],
            subject: current(),
            baseline: lock()
        ),
        Comparison(
            group: group,
            name: "coordinator.grant(), valid",
            metrics: [.time, .allocations],
            subject: grant(),
            baseline: actor()
        ),
        ReleaseTime(count: 10_000),
    ]

    private static func current() -> Subject {
        let coordinator = RefreshCoordinator(credential: "0123456789") { $0 }
        return Subject("current") { count in
            for _ in 0..<count { keep(coordinator.current) }
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
            for _ in 0..<count { keep(try await coordinator.grant()) }
        }
    }

    private static func actor() -> Subject {
        let holder = Holder()
        return Subject("reading an actor's property") { count in
            for _ in 0..<count { keep(await holder.credential) }
        }
    }

    private actor Holder {
        let value = "0123456789"
        var credential: String { value }
    }

    /// Keeps the optimiser from leaving out what nobody uses.
    @inline(never)
    private static func keep<Value>(_ value: Value) {}
}
