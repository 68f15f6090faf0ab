import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Stopwatch, Locked, BackgroundTask")
struct SupportTests {
    @TaskLocal private static var label = "outside"

    @Test("a stopwatch reads the clock it was given")
    func stopwatch() {
        let clock = ManualClock()
        clock.advance(by: .seconds(5))
        let stopwatch = Stopwatch(clock)
        #expect(stopwatch.elapsed == .zero)
        clock.advance(by: .milliseconds(1_500))
        #expect(stopwatch.elapsed == .milliseconds(1_500))
    }

    @Test("a locked value loses no change of many tasks")
    func locked() async {
        let count = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 1...100 {
                group.addTask { for _ in 1...100 { count.withLock { $0 += 1 } } }
            }
        }
        #expect(count.withLock { $0 } == 10_000)
    }

    @Test("a lock is given back when its body throws")
    func throwing() {
        let value = Locked(1)
        #expect(throws: CancellationError.self) { try value.withLock { _ in throw CancellationError() } }
        #expect(value.withLock { $0 } == 1)
    }

    @Test("background work knows its caller's task-local values, not its cancellation")
    func background() async {
        let seen = Locked<(label: String, isCancelled: Bool)?>(nil)
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await Self.$label.withValue("inside") {
                BackgroundTask.start { seen.withLock { $0 = (Self.label, Task.isCancelled) } }
            }.value
        }.value
        #expect(seen.withLock { $0?.label } == "inside")
        #expect(seen.withLock { $0?.isCancelled } == false)
    }

    @Test("a simulated system starts background work itself")
    func starter() async {
        let started = Locked(0)
        let process = Self.process { work in
            started.withLock { $0 += 1 }
            return Task(operation: work)
        }
        await SimulatedProcess.$current.withValue(process) {
            await BackgroundTask.start {}.value
        }
        #expect(started.withLock { $0 } == 1)
    }

    @Test("a branch of work that is born cancelled knows it, and one that is not goes on", arguments: [true, false])
    func branch(isCancelled: Bool) async {
        let process = Self.process { work in Task(operation: work) }
        let seen = Locked<Bool?>(nil)
        await SimulatedProcess.$current.withValue(process) {
            await Task {
                if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
                let work = BackgroundTask.branch {
                    // Until it is cancelled, which happens at once or never.
                    for _ in 0..<1_000 where !Task.isCancelled { await Task.yield() }
                    seen.withLock { $0 = Task.isCancelled }
                }
                #expect(work.isCancelled == isCancelled)
                await work.value
            }.value
        }
        #expect(seen.withLock { $0 } == isCancelled)
    }

    private static func process(start: @escaping BackgroundTask.Starter) -> SimulatedProcess {
        SimulatedProcess(on: SimulatedSystem(clock: ManualClock(), random: .system, start: start))
    }

    @Test("each simulated process makes a shared value of its own, and keeps it")
    func sharedValues() {
        let count = Counter()
        let number = OnePerProcess { count.increment() }
        let processes = [SimulatedProcess(), SimulatedProcess()]
        let values = (processes + processes).map { SimulatedProcess.$current.withValue($0) { number.value } }
        #expect(values == [2, 3, 2, 3])
        #expect(number.value == 1)
    }

    @Test("a shared value that a simulation uses first does not give its clock to the process")
    func clockOfSharedValue() async throws {
        let clock = try await simulate { _ in
            let clock = OnePerProcess { DefaultClock.current }
            #expect(clock.value is ManualClock)
            return clock
        }
        #expect(clock.value is ContinuousClock)
    }

    @Test(
        "a duration that is added to a time is clamped to a hundred years",
        arguments: [
            (Duration.seconds(-1), Duration.zero), (.seconds(Int64.min), .zero), (.zero, .zero),
            (.nanoseconds(1), .nanoseconds(1)), (.seconds(3_155_760_000), .seconds(3_155_760_000)),
            (.seconds(3_155_760_001), .seconds(3_155_760_000)), (.seconds(Int64.max), .seconds(3_155_760_000)),
        ]
    )
    func clampedToCentury(duration: Duration, expected: Duration) {
        #expect(duration.clampedToCentury == expected)
    }
}
