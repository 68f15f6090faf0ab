import Nautilus
import NautilusTesting

/// A simulation of many clients, each with your own service, against a modelled server, in virtual time. It shows what
/// your retries do to a server that struggles. The guide `WhyBudgets` has a whole example.
/// ```swift
/// let report = try await FleetSimulation(clients: 100, load: load, server: server).run("ours") { client in
///     NotesService(transport: client.transport, clock: client.clock, random: client.random)
/// } request: { call in
///     GetNote(id: call.number)
/// }
/// ```
/// Each call takes the same path as in production, through your retriers, interceptors and time limits. The same seed
/// gives the same report, and calls begin at the same times whatever the service does, so you can compare two policies.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public struct FleetSimulation: Sendable {
    /// How many clients there are.
    public let clients: Int
    /// The times of the clients' calls.
    public let load: FleetLoad
    /// The server that they call.
    public let server: FleetServer
    /// The seed of everything random.
    public let seed: UInt64
    /// How long calls may go on after the end of the load; then they are cancelled, and count as failed.
    public let overtime: Duration

    /// Creates a simulation, to be run with one policy or with several.
    ///
    /// - Parameters:
    ///   - clients: How many clients there are, each with its own service. Less than 1 counts as 1.
    ///   - load: The times of the clients' calls.
    ///   - server: The server that they call.
    ///   - seed: The seed of everything random. Default: 1; any seed will do.
    ///   - overtime: How long calls may go on after the end of the load. Default: 120 s, more than four attempts take
    ///     with the delays of the library's defaults.
    public init(
        clients: Int,
        load: FleetLoad,
        server: FleetServer,
        seed: UInt64 = 1,
        overtime: Duration = .seconds(120)
    ) {
        self.clients = max(1, clients)
        self.load = load
        self.server = server
        self.seed = seed
        self.overtime = overtime.clampedToCentury
    }

    /// Runs the fleet with one request for each call.
    ///
    /// - Parameters:
    ///   - policy: The policy's name in the report.
    ///   - onSecond: Called on the simulation's thread after each second of the load, for example to print progress.
    ///     Default: nil, no calls.
    ///   - service: Creates a client's service from what the client offers.
    ///   - request: Creates the request of a call.
    /// - Throws: `SimulationError`; `CancellationError` when the task is cancelled; the error of `service`.
    public func run<S: HttpService, R: Request>(
        _ policy: String,
        onSecond: (@Sendable (FleetSecond) -> Void)? = nil,
        service: @escaping @Sendable (FleetClient) throws -> S,
        request: @escaping @Sendable (FleetCall) -> R
    ) async throws -> FleetReport {
        try await run(policy, onSecond: onSecond, service: service) { service, call in
            _ = try await request(call).schedule(with: service)
        }
    }

    /// Runs the fleet with calls that you compose: several requests, one after the other, or a choice among them.
    ///
    /// - Parameters:
    ///   - policy: The policy's name in the report.
    ///   - onSecond: Called on the simulation's thread after each second of the load, for example to print progress.
    ///     Default: nil, no calls.
    ///   - service: Creates a client's service from what the client offers.
    ///   - call: Makes one call; the call has failed if this throws.
    /// - Throws: `SimulationError`; `CancellationError` when the task is cancelled; the error of `service`.
    public func run<S: HttpService>(
        _ policy: String,
        onSecond: (@Sendable (FleetSecond) -> Void)? = nil,
        service: @escaping @Sendable (FleetClient) throws -> S,
        call: @escaping @Sendable (S, FleetCall) async throws -> Void
    ) async throws -> FleetReport {
        let recorder = FleetRecorder()
        try await Simulation(seed: seed, maxJobs: maxJobs).run { simulation in
            try await FleetRun(fleet: self, simulation: simulation, recorder: recorder, makeCall: call)
                .run(service, onSecond)
        }
        return FleetReport(
            policy: policy,
            seed: seed,
            clients: clients,
            load: load,
            outages: server.outages,
            recorded: recorder.result
        )
    }

    /// Enough for a hundred attempts of each call, and an end for work that runs in circles.
    private var maxJobs: Int {
        // An `Int` has 32 bits on some watches.
        Int(clamping: 10_000_000 + Int64(min(load.expectedCalls(clients: clients), 1e9)) * 10_000)
    }
}
