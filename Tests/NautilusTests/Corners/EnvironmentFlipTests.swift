import NautilusEnvironments
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("The environment changes before each job of a call, or at each reading of its service", .endsInTime)
struct EnvironmentFlipTests {
    private struct Run: Sendable {
        let result: CallResult
        let strays: [String]
        let placeCount: Int
        let readCount: Int
    }

    @Test("a service that is another one at any reading: the call stays where it is or fails, and nothing goes astray")
    func readings() async throws {
        let quiet = try await simulate { try await Self.run($0, flippingAt: nil) { _ in } }
        #expect(quiet.result.isOk && quiet.strays == [])
        for reading in 0..<quiet.readCount {
            let run = try await simulate { try await Self.run($0, flippingAt: reading) { _ in } }
            Self.check(run, Comment(rawValue: "reading \(reading)"))
        }
    }

    @Test("a service that is another one from any job on: the call stays where it is or fails, and nothing goes astray")
    func jobs() async throws {
        try await beforeEachJob(of: { try await Self.run($0, flippingAt: nil, $1) }) { run, step in
            Self.check(run, Comment(rawValue: "step \(step.map(String.init) ?? "none")"))
        }
    }

    /// Whether a call ended because its environment changed.
    private static func isEnvironmentChange(_ error: HttpError) -> Bool {
        if case .environmentChanged = error.kind { true } else { false }
    }

    @Test("a switch that is turned before any job: the call ends in the environment in which it began, or fails")
    func turned() async throws {
        try await beforeEachJob(of: { simulation, arm in
            let environments = Environments(simulation)
            let sites = ServiceSwitch(0) { Place(environments: environments, index: $0) }
            arm { sites.select(1) }
            let result: CallResult = await Ping.get.result(with: sites)
            return environments.run(result)
        }) { run, step in
            let comment = Comment(rawValue: "step \(step.map(String.init) ?? "none")")
            #expect(run.strays == [], comment)
            #expect(run.placeCount <= 1, comment)
            if let error = run.result.error { #expect(Self.isEnvironmentChange(error), comment) }
        }
    }

    private static func run(
        _ simulation: Simulated,
        flippingAt reading: Int?,
        _ arm: (@escaping @Sendable () -> Void) -> Void
    ) async throws -> Run {
        let environments = Environments(simulation, flippingAt: reading)
        arm { environments.flip() }
        return environments.run(await Ping.get.result(with: Changing(environments: environments)))
    }

    private static func check(_ run: Run, _ comment: Comment) {
        #expect(run.strays == [], comment)
        #expect(run.placeCount <= 1, comment)
        if let error = run.result.error { #expect(isEnvironmentChange(error), comment) }
    }

    /// Two environments with a user and a server each, of which one is current.
    private final class Environments: Sendable {
        private struct State: Sendable {
            var index = 0
            var readCount = 0
        }

        let clock: ManualClock
        let coordinators: [RefreshCoordinator<Token>]
        let transports: [ScriptedTransport]
        private let state = Locked(State())
        private let flipping: Int?

        init(_ simulation: Simulated, flippingAt flipping: Int? = nil) {
            let clock = simulation.clock
            (self.clock, self.flipping) = (clock, flipping)
            coordinators = [10, 20].map { number in
                RefreshCoordinator(credential: Token(number: number), clock: clock, random: simulation.random) {
                    try await clock.sleep(for: .milliseconds(50))
                    return Token(number: $0.number + 1)
                }
            }
            transports = (0..<2).map { _ in
                ScriptedTransport(.status(401), .status(503), .reply(text: "ok"), clock: clock)
            }
        }

        func flip() { state.withLock { $0.index = 1 - $0.index } }

        /// The current environment; the one reading after which it is another one has it already.
        func read() -> Int {
            state.withLock { state in
                if state.readCount == flipping { state.index = 1 - state.index }
                state.readCount += 1
                return state.index
            }
        }

        func run(_ result: CallResult) -> Run {
            let strays = transports.enumerated().flatMap { index, transport in
                transport.attempts.compactMap { attempt -> String? in
                    let parts = [
                        attempt.request.url.host?.first.map(String.init),
                        attempt.header[.authorization].flatMap { $0.hasPrefix("Bearer token-1") ? "a" : "b" },
                        attempt.header["X-Place"], attempt.header["X-Slow-Place"],
                    ]
                    return parts.allSatisfy { $0 == ["a", "b"][index] } ? nil : "\(index): \(parts)"
                }
            }
            return Run(
                result: result,
                strays: strays,
                placeCount: transports.count { $0.count > 0 },
                readCount: state.withLock { $0.readCount }
            )
        }
    }

    /// One environment's service.
    private struct Place: HttpService {
        let environments: Environments
        let index: Int

        private var name: String { ["a", "b"][index] }
        var apiUrl: any UrlConvertible { "\(name).example" }
        var header: HttpHeader { ["X-Place": name] }
        var asyncHeader: HttpHeader {
            get async throws {
                try await environments.clock.sleep(for: .milliseconds(1))
                return ["X-Slow-Place": name]
            }
        }
        var retrierFactory: any RetrierFactory {
            .composed(
                AuthorizationRetrier.factory(environments.coordinators[index]),
                steadyBackoff()
            )
        }
        var transport: any HttpTransport { environments.transports[index] }
        var clock: any Clock<Duration> { environments.clock }
    }

    /// A service that asks for the environment with each property.
    private struct Changing: HttpService {
        let environments: Environments

        private var place: Place { Place(environments: environments, index: environments.read()) }
        var apiUrl: any UrlConvertible { place.apiUrl }
        var header: HttpHeader { place.header }
        var asyncHeader: HttpHeader {
            get async throws {
                try await environments.clock.sleep(for: .milliseconds(1))
                return try await place.asyncHeader
            }
        }
        var retrierFactory: any RetrierFactory { place.retrierFactory }
        var transport: any HttpTransport { place.transport }
        var clock: any Clock<Duration> { environments.clock }
        var interceptors: [any HttpInterceptor] {
            _ = environments.read()
            return []
        }
    }
}
