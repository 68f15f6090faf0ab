/// What all calls share that name nothing of their own: the process's, and in a simulation of the test kit its own, where
/// a seed decides everything.
package struct SharedByOrigin: Sendable {
    @TaskLocal package static var current = SharedByOrigin()

    let budgets = OriginBudgets { _ in TokenBucketBudget() }
    let latencies: OriginLatencies

    package init(clock: any Clock<Duration> = DefaultClock.current) {
        latencies = OriginLatencies(clock: clock)
    }
}
