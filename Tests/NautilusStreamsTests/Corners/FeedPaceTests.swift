import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("The pace of a hundred feeds and sockets", .endsInTime)
struct FeedPaceTests {
    private static let count = 100
    private static let end = Duration.seconds(20)

    /// The most connections that begin within any 50 ms, from a moment on.
    private func most(of starts: [Duration], from first: Duration) -> Int {
        crowd(starts.filter { $0 >= first }, within: .milliseconds(50))
    }

    /// The delays before the pace.
    enum Schedule: CaseIterable, Sendable {
        case standard, none, steady

        var retriers: any RetrierFactory {
            BackoffRetrier.factory(
                .standard.with {
                    switch self {
                    case .standard: break
                    case .none: $0.backoff = .constant(.zero)
                    case .steady: $0.backoff = .constant(.milliseconds(500), jitter: .none)
                    }
                }
            )
        }
    }

    /// Does the same a hundred times at once.
    private func hundredTimes(_ work: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.count { group.addTask(operation: work) }
            try await group.waitForAll()
        }
    }

    /// The starts of the connections of a hundred event streams, until `end`.
    ///
    /// - Parameter calm: How long each one's first connection lasts after its event, which takes as long to come.
    private func feedStarts(_ schedule: Schedule, calm: Duration = .zero, seed: UInt64) async throws -> [Duration] {
        try await simulate(seed: seed) { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { request, _ in
                let isFirst = request.header[.lastEventId] == nil
                return .chunks(
                    header: [.contentType: "text/event-stream"],
                    [Data("id: 1\ndata: a\n\n".utf8)],
                    pause: isFirst ? calm : .zero
                )
            }
            let service = AnyHttpService<HttpError>(
                apiUrl: "a.com",
                retrierFactory: schedule.retriers,
                transport: transport,
                clock: clock
            )
            try await hundredTimes {
                let request = Ping(timeout: .seconds(7_200))
                for try await _ in request.events(with: service) where clock.now.offset >= calm * 2 + Self.end { break }
            }
            return transport.attempts.map(\.start)
        }
    }

    @Test(
        "F25: a hundred event streams whose server hangs up after each event spread over the second, and stay spread",
        arguments: Schedule.allCases,
        [0, 1] as [UInt64]
    )
    func feeds(schedule: Schedule, seed: UInt64) async throws {
        let starts = try await feedStarts(schedule, seed: seed)
        // Five connections of each come as fast as the schedule has it; after them, the pace has the say.
        #expect(most(of: starts, from: .seconds(12)) <= 20)
        #expect(starts.count <= Self.count * 26)
        if schedule == .standard { #expect(most(of: Array(starts.dropFirst(Self.count)), from: .zero) <= 40) }
    }

    @Test(
        "F25: a hundred event streams that a server ends together after a calm hour spread as well",
        arguments: [.standard, .none] as [Schedule]
    )
    func calm(schedule: Schedule) async throws {
        let starts = try await feedStarts(schedule, calm: .seconds(1_800), seed: 0)
        #expect(most(of: starts, from: .seconds(3612)) <= 20)
    }

    @Test(
        "F25: a hundred web sockets whose server breaks off after each message spread over the second, and stay spread",
        arguments: [.standard, .none] as [Schedule],
        [0, 1] as [UInt64]
    )
    func sockets(schedule: Schedule, seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let clock = simulation.clock
            let server = HangingUp(clock)
            let service = SocketService(
                apiUrl: "api.example.com",
                retrierFactory: schedule.retriers,
                webSocketTransport: server,
                clock: clock
            )
            try await hundredTimes {
                let chat = try await ChatStream().schedule(with: service)
                for try await _ in chat where clock.now.offset >= Self.end { break }
                await chat.close()
            }
            #expect(most(of: server.starts.withLock { $0 }, from: .seconds(12)) <= 20)
        }
    }

    /// Opens sockets, sends one message over each, and drops them.
    private final class HangingUp: WebSocketTransport {
        private let clock: ManualClock
        let starts = Locked<[Duration]>([])

        init(_ clock: ManualClock) { self.clock = clock }

        func open(_ request: HttpRequest, context: TransportContext) async throws -> WebSocketOpening {
            let now = clock.now.offset
            starts.withLock { $0.append(now) }
            let socket = ScriptedWebSocketTransport(
                .accept { socket in
                    try await socket.send(.text("a"))
                    socket.drop()
                }
            )
            return try await socket.open(request, context: context)
        }
    }
}
