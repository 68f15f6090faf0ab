import Nautilus

/// Why a ``Simulation`` ended before its body did.
public enum SimulationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Nothing can run, nothing sleeps on the clock, and the body has not returned: something waits for ever.
    case stuck(seed: UInt64, at: Duration, jobCount: Int)
    /// More jobs than the limit ran: something goes round in a circle.
    case tooManyJobs(seed: UInt64, at: Duration, limit: Int)
    /// A simulation runs once; make another one.
    case alreadyRun

    /// The failure, its time on the clock, and the seed with which to see it again.
    public var description: String {
        switch self {
        case .stuck(let seed, let time, let count):
            """
            Stuck at \(time.brief) (seed \(seed), jobs run: \(count)): nothing can run, nobody sleeps on the simulation's \
            clock, and the body has not returned. Something waits for what never comes, or for work outside the \
            simulation (an unstructured `Task` instead of `simulation.task`, the main actor, another clock).
            """
        case .tooManyJobs(let seed, let time, let limit):
            "Not done at \(time.brief) (seed \(seed), jobs run: \(limit)): something goes round in a circle."
        case .alreadyRun:
            "A simulation runs once; make another one."
        }
    }
}
