import Nautilus
import NautilusTesting

/// One run of a ``FleetSimulation``: all clients, each making its calls.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
struct FleetRun<S: HttpService>: Sendable {
    let fleet: FleetSimulation
    let simulation: Simulation
    let recorder: FleetRecorder
    let makeCall: @Sendable (S, FleetCall) async throws -> Void

    /// Returns when all calls have ended.
    func run(
        _ makeService: (FleetClient) throws -> S,
        _ onSecond: (@Sendable (FleetSecond) -> Void)?
    ) async throws {
        let services = try clients().map(makeService)
        if let onSecond { tell(onSecond) }
        let calls = Dictionary(grouping: fleet.load.calls(clients: fleet.clients, seed: fleet.seed), by: \.client)
        await withDiscardingTaskGroup { group in
            // One group per client, since leaving a single group with thousands of calls takes long.
            for (number, service) in services.enumerated() {
                group.addTask { await make(calls[number] ?? [], with: service) }
            }
        }
        try Task.checkCancellation()
    }

    private func clients() -> [FleetClient] {
        // Not the draws of the calls: those stay the same whatever the server needs.
        var generator = SeededGenerator(seed: ~fleet.seed)
        let random = SeededRandomSource(seed: generator.next())
        let model = Locked(ServerModel(fleet.server, random: random))
        return (0..<fleet.clients).map { number in
            FleetClient(
                number: number,
                transport: FleetTransport(
                    fleet.server,
                    model,
                    clock: simulation.clock,
                    random: random,
                    recorder: recorder
                ),
                clock: simulation.clock,
                random: SeededRandomSource(seed: generator.next())
            )
        }
    }

    /// Makes the calls of a client, each at its time, whatever has become of earlier calls.
    private func make(_ calls: [FleetCall], with service: S) async {
        await withDiscardingTaskGroup { group in
            for call in calls {
                try? await simulation.clock.sleep(until: .init(call.start))
                if Task.isCancelled { break }
                group.addTask { await make(call, with: service) }
            }
            // This takes no time when no call is left.
            try? await simulation.clock.sleep(until: .init(fleet.load.duration + fleet.overtime))
            group.cancelAll()
        }
    }

    private func make(_ call: FleetCall, with service: S) async {
        recorder.began(at: call.start)
        do {
            try await makeCall(service, call)
            recorder.succeeded(call, at: simulation.clock.now.offset)
        } catch {
            recorder.failed(at: simulation.clock.now.offset)
        }
    }

    private func tell(_ observer: @escaping @Sendable (FleetSecond) -> Void) {
        simulation.task {
            var number = 0
            while simulation.clock.now.offset < fleet.load.duration {
                try await simulation.clock.sleep(until: .init(.seconds(number + 1)))
                observer(recorder.second(number))
                number += 1
            }
        }
    }
}

/// Counts what happens in a ``FleetSimulation``, by the second.
final class FleetRecorder: Sendable {
    struct State {
        var seconds: [FleetSecond] = []
        /// The durations of the calls that succeeded.
        var durations: [Duration] = []
        /// When the last call ended.
        var end = Duration.zero

        subscript(time: Duration) -> FleetSecond {
            get { seconds[Int(time.components.seconds)] }
            set { seconds[Int(time.components.seconds)] = newValue }
        }

        mutating func reach(_ time: Duration) {
            while seconds.count <= Int(time.components.seconds) { seconds.append(FleetSecond(number: seconds.count)) }
        }
    }

    private let state = Locked(State())

    var result: State { state.withLock { $0 } }

    func began(at time: Duration) {
        count(at: time) { $0[time].begun += 1 }
    }

    func sent(at time: Duration) {
        count(at: time) { $0[time].sends += 1 }
    }

    func refused(at time: Duration) {
        count(at: time) { $0[time].refused += 1 }
    }

    func abandoned(at time: Duration) {
        count(at: time) { $0[time].abandoned += 1 }
    }

    func succeeded(_ call: FleetCall, at time: Duration) {
        count(at: time) { state in
            state.durations.append(time - call.start)
            state.end = time
            state[time].succeeded += 1
            state[call.start].kept += 1
        }
    }

    func failed(at time: Duration) {
        count(at: time) { state in
            state.end = time
            state[time].failed += 1
        }
    }

    /// The counts of a second that is over, as far as they are known.
    func second(_ number: Int) -> FleetSecond {
        state.withLock { $0.seconds.indices.contains(number) ? $0.seconds[number] : FleetSecond(number: number) }
    }

    private func count(at time: Duration, _ change: (inout State) -> Void) {
        state.withLock { state in
            state.reach(time)
            change(&state)
        }
    }
}
