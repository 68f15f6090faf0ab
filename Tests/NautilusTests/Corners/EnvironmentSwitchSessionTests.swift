import Foundation
import NautilusPages
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("A switch that flips at every step of a refresh")
struct EnvironmentSwitchSessionTests {
    /// Whose the credentials are with which the service authorizes.
    enum Coordinators: CaseIterable, Sendable {
        /// Each environment has its own, and the service takes that of the moment.
        case two
        /// The service has one, whose user has signed in at staging, and which serves no other origin.
        case one
    }

    @Test("a call that is refreshed, and repeated after an outage", arguments: Coordinators.allCases)
    func call(coordinators: Coordinators) async throws {
        try await expectNoStrays(coordinators, ending: "ok", exchanges: 3) { service in
            try await Ping.get.schedule(with: service)
        }
    }

    @Test("two calls at a time, which share the refresh", arguments: Coordinators.allCases)
    func calls(coordinators: Coordinators) async throws {
        try await expectNoStrays(coordinators, ending: "ok ok", exchanges: nil) { service in
            async let one = Ping.get.schedule(with: service)
            async let other = Ping.get.schedule(with: service)
            return try await [one, other].joined(separator: " ")
        }
    }

    @Test("an environment that changes between two pages lets no token stray", arguments: Coordinators.allCases)
    func pages(coordinators: Coordinators) async throws {
        let page: Reply = { number in
            .reply(text: #"{"numbers": [\#(number)]\#(number == 3 ? #", "next": "b""# : "")}"#)
        }
        try await expectNoStrays(coordinators, reply: page, ending: "[3, 4]", exchanges: 4) { service in
            var numbers: [Int] = []
            for try await number in CursorPages().items(with: service) { numbers.append(number) }
            return "\(numbers)"
        }
    }

    @Test(
        "an environment that changes between two connections of a feed lets no token stray",
        arguments: Coordinators.allCases
    )
    func feed(coordinators: Coordinators) async throws {
        let event: Reply = { .reply(header: ["Content-Type": "text/event-stream"], text: "id: \($0)\ndata: a\n\n") }
        try await expectNoStrays(coordinators, reply: event, ending: "2", exchanges: 4) { service in
            var count = 0
            for try await _ in Ping.get.events(with: service) {
                count += 1
                if count == 2 { break }
            }
            return "\(count)"
        }
    }

    @Test("a new environment between connections of a web socket lets no token stray", arguments: Coordinators.allCases)
    func socket(coordinators: Coordinators) async throws {
        try await expectNoStrays(coordinators, ending: "2", exchanges: 4) { service in
            let chat = try await ChatStream().schedule(with: service)
            var count = 0
            for try await _ in chat {
                count += 1
                if count == 2 { break }
            }
            await chat.close()
            return "\(count)"
        }
    }

    private typealias Reply = @Sendable (_ number: Int) -> ScriptedReply

    /// Does the same once for each step at which the service may move.
    private func expectNoStrays(
        _ coordinators: Coordinators,
        reply: @escaping Reply = { _ in .reply(text: "ok") },
        ending: String,
        exchanges: Int?,
        _ body: @escaping @Sendable (MovingService) async throws -> String
    ) async throws {
        let quiet = try await run(coordinators, flippingAt: 0, reply, body)
        #expect(quiet.ending == ending)
        #expect(quiet.sent == Array(repeating: "staging", count: exchanges ?? quiet.sent.count))
        #expect(quiet.refreshes == 1)
        #expect(quiet.strays == [])
        for step in 1...quiet.stepCount {
            let run = try await run(coordinators, flippingAt: step, reply, body)
            #expect(run.strays == [], "step \(step)")
            // Of two calls, the second one may begin when the switch has flipped.
            #expect(
                run.sent.allSatisfy { $0 == "staging" } || step == 1 || exchanges == nil,
                "step \(step): \(run.sent)"
            )
            #expect(["environmentChanged", "foreignOrigin", ending].contains(run.ending), "step \(step)")
            #expect(run.refreshes <= 1, "step \(step)")
        }
    }

    private func run(
        _ coordinators: Coordinators,
        flippingAt step: Int,
        _ reply: @escaping Reply,
        _ body: @escaping @Sendable (MovingService) async throws -> String
    ) async throws -> TurningEnvironment.Seen {
        try await simulate { simulation in
            let environment = TurningEnvironment(turningAt: step)
            let service = MovingService(environment, simulation.clock, coordinators, reply)
            let ending: String
            do {
                ending = try await body(service)
            } catch let error as HttpError {
                ending =
                    switch (error.kind, error.underlying) {
                    case (.environmentChanged, _): "environmentChanged"
                    case (_, RefreshError.foreignOrigin?): "foreignOrigin"
                    default: "\(error)"
                    }
            }
            var seen = environment.seen
            seen.ending = ending
            return seen
        }
    }
}

private struct MovingService: HttpService {
    let environment: TurningEnvironment
    let manualClock: ManualClock
    private let coordinators: [String: RefreshCoordinator<String>]
    private let reply: @Sendable (Int) -> ScriptedReply

    init(
        _ environment: TurningEnvironment,
        _ clock: ManualClock,
        _ coordinators: EnvironmentSwitchSessionTests.Coordinators,
        _ reply: @escaping @Sendable (Int) -> ScriptedReply
    ) {
        (self.environment, self.manualClock, self.reply) = (environment, clock, reply)
        let coordinator = { (name: String) in
            RefreshCoordinator(credential: "\(name) 1", origins: .only(name), clock: clock) { _ in
                await Task.yield()
                environment.step()
                try await clock.sleep(for: .milliseconds(50))
                environment.noteRefresh()
                environment.step()
                return "\(name) 2"
            }
        }
        let staging = coordinator("staging")
        let production = coordinators == .two ? coordinator("production") : staging
        self.coordinators = ["staging": staging, "production": production]
    }

    var clock: any Clock<Duration> { manualClock }
    var apiUrl: any UrlConvertible { stepping { $0 } }
    var header: HttpHeader { stepping { ["X-Service": $0] } }
    var asyncHeader: HttpHeader {
        get async throws {
            await Task.yield()
            return stepping { _ in [:] }
        }
    }
    var retrierFactory: any RetrierFactory {
        let coordinator = stepping { coordinators[$0] }
        return .composed(
            coordinator?.authorization { $1.header[.authorization] = $0 } ?? .never,
            BackoffRetrier.factory(
                .standard.with {
                    $0.backoff = .constant(.seconds(1))
                    $0.budget = .unlimited
                }
            )
        )
    }
    var transport: any HttpTransport {
        stepping { name in ScriptedTransport(clock: manualClock) { request, _ in answer(request, over: name) } }
    }
    var webSocketTransport: any WebSocketTransport { stepping { Sockets(service: self, name: $0) } }

    private func stepping<Value>(_ value: (String) -> Value) -> Value {
        defer { environment.step() }
        return value(environment.name)
    }

    /// - Returns: The number of the request; nil for one whose token is refused.
    private func arrive(_ request: HttpRequest, over transport: String) -> Int? {
        let (host, token) = (request.url.host ?? "", request.header[.authorization] ?? "")
        let names = [request.header["X-Service"], token.split(separator: " ").first.map(String.init), transport]
        let number = environment.arrived(host, at: host, with: names)
        return token.hasSuffix("2") ? number : nil
    }

    private func answer(_ request: HttpRequest, over transport: String) -> ScriptedReply {
        defer { environment.step() }
        guard let number = arrive(request, over: transport) else { return .status(401) }
        return number <= 2 ? .status(503) : reply(number)
    }

    private func open(_ request: HttpRequest, over transport: String) -> ScriptedWebSocketTransport.Opening {
        defer { environment.step() }
        guard let number = arrive(request, over: transport) else { return .decline(401) }
        guard number > 2 else { return .decline(503) }
        return .accept { [environment] socket in
            try await socket.send(.text("\(number)"))
            environment.step()
            if number == 3 { return socket.drop() }
            while true { _ = try await socket.receive() }
        }
    }

    private struct Sockets: WebSocketTransport {
        let service: MovingService
        let name: String

        func open(_ request: HttpRequest, context: TransportContext) async throws -> WebSocketOpening {
            await Task.yield()
            return try await ScriptedWebSocketTransport(service.open(request, over: name))
                .open(request, context: context)
        }
    }
}
