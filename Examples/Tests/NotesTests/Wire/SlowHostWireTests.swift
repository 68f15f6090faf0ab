import DemoServers
import Foundation
import Nautilus
import NautilusTesting
import NautilusURLSession
import Testing

@Suite("One slow host", .timeLimit(.minutes(10)))
struct SlowHostWireTests {
    @Test("calls that a host does not answer hold up no call to another host")
    func noHeadOfLine() async throws {
        let hold = Barrier()
        let slow = try await StubServer.start { _, _ in
            await hold.pass()
            return .status(200)
        }
        let quick = try await StubServer.start { _, _ in .status(200) }
        let transport = URLSessionTransport()
        let slowService = AnyHttpService(apiUrl: slow.origin, transport: transport)
        let quickService = AnyHttpService(apiUrl: quick.origin, transport: transport)
        async let held: Int = Self.succeeded(40, with: slowService)
        await slow.waitForRequests(6)
        // All of them return while the slow host still holds its own.
        #expect(await Self.succeeded(20, with: quickService) == 20)
        #expect(await slow.requests.count == 6)
        await hold.open()
        #expect(await held == 40)
        await slow.stop()
        await quick.stop()
    }

    @Test("a call that waits for a connection longer than its timeout is still sent, and answered")
    func timeoutStartsWithTheConnection() async throws {
        let hold = Barrier()
        let slow = try await StubServer.start { _, _ in
            await hold.pass()
            return .status(200)
        }
        let silent = try await StubServer.start { _, _ in
            await hold.pass()
            return .status(200)
        }
        let transport = URLSessionTransport(configuration: .init(connectionsPerHost: 1))
        let clock = ManualClock()
        let slowService = AnyHttpService(apiUrl: slow.origin, transport: transport, clock: clock)
        let silentService = AnyHttpService(apiUrl: silent.origin, transport: transport, clock: clock)
        async let first: Void = Probe(timeout: .seconds(60)).schedule(with: slowService)
        await slow.waitForRequests(1)
        async let second: Void = Probe(timeout: .seconds(1)).schedule(with: slowService)
        // Another host's call has its connection, and so its timeout passes.
        let third = Task { try await Probe(timeout: .seconds(2)).schedule(with: silentService) }
        // The first one's and the third one's: the second one waits for its connection.
        try await clock.waitForAlarms(count: 2)
        await silent.waitForRequests(1)
        clock.advance(by: .seconds(2))
        let error = await #expect(throws: HttpError.self) { try await third.value }
        #expect(error?.kind == .timeout(.seconds(2)))
        await hold.open()
        try await first
        try await second
        #expect(await slow.requests.count == 2)
        await slow.stop()
        await silent.stop()
    }

    private static func succeeded(_ count: Int, with service: AnyHttpService<HttpError>) async -> Int {
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<count { group.addTask { (try? await Probe().schedule(with: service)) != nil } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
    }
}
