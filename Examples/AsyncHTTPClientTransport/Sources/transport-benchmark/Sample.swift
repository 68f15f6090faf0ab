import Foundation

/// The cost of one block of calls.
struct Sample {
    /// Calls in a second.
    let throughput: Double
    /// Processor time of the client's process for one call, in microseconds.
    let cpu: Double

    init(calls: Int, seconds: Double, cpuSeconds: Double) {
        throughput = Double(calls) / seconds
        cpu = cpuSeconds * 1e6 / Double(calls)
    }

    /// Measures calls of this process.
    init(calls: Int, of run: () async throws -> Void) async throws {
        let (cpuStart, start) = (Self.cpuTime, ContinuousClock.now)
        try await run()
        let (cpuEnd, end) = (Self.cpuTime, ContinuousClock.now)
        self.init(
            calls: calls,
            seconds: (end - start) / .seconds(1),
            cpuSeconds: (cpuEnd - cpuStart) / .seconds(1)
        )
    }

    private static var cpuTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
