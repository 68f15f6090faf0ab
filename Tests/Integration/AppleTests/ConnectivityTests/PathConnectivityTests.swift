import NautilusTesting
import NetworkStandIn
import Testing

@testable import Nautilus
@testable import NautilusHTTP

// One at a time: there is one network.
@Suite("PathConnectivity", .serialized)
struct PathConnectivityTests {
    private let network = NetworkStandIn.shared

    init() {
        network.set(.satisfied)
    }

    @Test("without a path the device is offline; one that wants a connection may get it, and counts as online")
    func statuses() {
        let connectivity = PathConnectivity()
        #expect(connectivity.isOnline)
        let statuses: [(NWPath.Status, Bool)] = [
            (.unsatisfied, false), (.unsatisfied, false), (.satisfied, true), (.satisfied, true),
            (.unsatisfied, false), (.requiresConnection, true),
        ]
        for (status, isOnline) in statuses {
            network.set(status)
            #expect(connectivity.isOnline == isOnline)
        }
    }

    @Test("PathConnectivity knows the network path that was there before it was made")
    func offlineFromTheStart() async throws {
        network.set(.unsatisfied)
        let connectivity = PathConnectivity()
        // Its first word comes a moment later.
        while connectivity.isOnline { await Task.yield() }
        network.set(.satisfied)
        try await connectivity.waitUntilOnline()
    }

    @Test("a wait for the network ends with the next path, and at once when it is cancelled")
    func waiting() async throws {
        let connectivity = PathConnectivity()
        network.set(.unsatisfied)
        let waiting = Task { try await connectivity.waitUntilOnline() }
        let cancelled = Task { try await connectivity.waitUntilOnline() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        network.set(.satisfied)
        try await waiting.value
    }

    @Test("the path monitor ends with its PathConnectivity")
    func end() {
        let before = network.monitorCount
        var connectivity: PathConnectivity? = PathConnectivity()
        #expect(connectivity?.isOnline == true)
        #expect(network.monitorCount == before + 1)
        connectivity = nil
        #expect(network.monitorCount == before)
    }

    @Test("a call waits for the path, and goes out spread when there is one")
    func call() async throws {
        let clock = ManualClock()
        let connectivity = PathConnectivity()
        network.set(.unsatisfied)
        let transport = ScriptedTransport(
            .fail(.notConnectedToInternet, delivery: .notSent),
            .status(204),
            clock: clock
        )
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: BackoffRetrier.factory(
                .standard.with {
                    $0.budget = .unlimited
                    $0.offline = OfflinePause(connectivity: connectivity, clock: clock)
                    $0.random = FixedRandomSource(0.5)
                }
            ),
            transport: transport,
            clock: clock
        )
        let call = Task { try await Ping().response(with: service).trace }
        // The longest wait's.
        try await clock.waitForSleepers(count: 1)
        clock.advance(by: .seconds(12))
        network.set(.satisfied)
        while clock.nextDeadline?.offset != .seconds(13) { await Task.yield() }
        clock.advance(by: .seconds(1))
        let trace = try await call.value
        #expect(trace.attempts.map(\.start) == [.zero, .seconds(13)])
        #expect(trace.attempts.first?.decision?.reason == .online(after: .seconds(12)))
    }
}

private struct Ping: Request {
    typealias Result = Void
    var route: HttpRoute { [] }
    var timeout: Duration? { nil }
}
