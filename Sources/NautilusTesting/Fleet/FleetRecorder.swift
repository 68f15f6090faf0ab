import Nautilus

/// Counts what happens in a ``FleetSimulation``, by the second.
final class FleetRecorder: Sendable {
    struct State {
        var seconds: [FleetSecond] = []
        /// How long the calls took that succeeded.
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
