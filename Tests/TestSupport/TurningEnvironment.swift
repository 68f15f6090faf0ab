import Nautilus

/// The environment that a service is in, which changes from staging to production at a step of what is done, and what
/// has arrived where.
package final class TurningEnvironment: Sendable {
    package struct Seen: Equatable, Sendable {
        package var ending = ""
        package var stepCount = 0
        package var refreshes = 0
        package var sent: [String] = []
        package var strays: [String] = []

        package init(
            sent: [String] = [],
            strays: [String] = []
        ) {
            (self.sent, self.strays) = (sent, strays)
        }
    }

    private struct State: Sendable {
        var name = "staging"
        var seen = Seen()
        var onTurn: (@Sendable () -> Void)?
    }

    private let state = Locked(State())
    private let turn: Int

    /// - Parameter step: The step behind which the environment changes; 0 for never.
    package init(turningAt step: Int) {
        turn = step
    }

    /// The environment's name now.
    package var name: String { state.withLock { $0.name } }
    package var seen: Seen { state.withLock { $0.seen } }

    /// Sets what else happens when the environment changes.
    package func onTurn(_ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.onTurn = work }
    }

    /// Something that a service is asked for, or that waits; the environment may change behind it.
    package func step() {
        let work = state.withLock { state -> (@Sendable () -> Void)? in
            state.seen.stepCount += 1
            guard state.seen.stepCount == turn else { return nil }
            state.name = "production"
            return state.onTurn
        }
        work?()
    }

    package func noteRefresh() {
        state.withLock { $0.seen.refreshes += 1 }
    }

    /// Notes a request.
    ///
    /// - Parameters:
    ///   - sent: What is kept of it.
    ///   - place: The environment in which it arrives.
    ///   - names: The environments from which its parts come; each other one than `place` is a stray.
    /// - Returns: The request's number.
    package func arrived(_ sent: String, at place: String, with names: [String?]) -> Int {
        state.withLock { state in
            state.seen.sent.append(sent)
            if names.contains(where: { $0 != place }) { state.seen.strays.append("\(place): \(names)") }
            return state.seen.sent.count
        }
    }
}
