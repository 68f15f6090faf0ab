import AllocationCounter

/// How often memory was asked for, on all threads of this process.
enum AllocationCount {
    /// Whether counting works here: checked by making a known number of allocations.
    static let isAvailable: Bool = {
        guard allocation_counter_is_available() else { return false }
        let known = 1_000
        return during { allocation_counter_exercise(known) } == known
    }()

    /// The allocations that `work` and everything beside it made.
    static func during(_ work: () async throws -> Void) async rethrows -> Int {
        let before = begin()
        defer { allocation_counter_enable(false) }
        try await work()
        return allocation_counter_value() - before
    }

    private static func during(_ work: () -> Void) -> Int {
        let before = begin()
        defer { allocation_counter_enable(false) }
        work()
        return allocation_counter_value() - before
    }

    private static func begin() -> Int {
        allocation_counter_enable(true)
        return allocation_counter_value()
    }
}
