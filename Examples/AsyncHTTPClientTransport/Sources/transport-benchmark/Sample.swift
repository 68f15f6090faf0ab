import Foundation

/// What one block of calls took.
struct Sample {
    /// Calls in a second.
    let throughput: Double
    /// Processor time of this process for one call, in microseconds.
    let cpu: Double

    init(of subject: Subject, calls: Int, atOnce width: Int) async throws {
        let (cpuStart, start) = (Self.cpuTime, ContinuousClock.now)
        try await subject.run(calls: calls, atOnce: width)
        let (cpuEnd, end) = (Self.cpuTime, ContinuousClock.now)
        throughput = Double(calls) / ((end - start) / .seconds(1))
        cpu = (cpuEnd - cpuStart) / .microseconds(1) / Double(calls)
    }

    private static var cpuTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
