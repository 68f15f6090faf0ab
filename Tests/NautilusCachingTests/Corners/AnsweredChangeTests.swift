import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

@Suite("Caches: answered changes whose call fails", .endsInTime)
struct AnsweredChangeTests {
    private struct Change: Request {
        typealias Result = Int
        var method: HttpMethod { .post }
        var route: HttpRoute { ["things"] }
        func decode(_ data: Data) throws -> Int {
            guard let number = Int(String(decoding: data, as: UTF8.self)) else { throw Undecodable.Failure() }
            return number
        }
    }

    enum Answer: CaseIterable, Sendable {
        case fine, undecodable, seeOtherMissing, seeOtherBusy, seeOtherLost, seeOtherRefused, movedMissing,
            seeOtherUnauthorized

        func reply(to request: HttpRequest) -> ScriptedReply {
            if request.url.path == "/result" {
                switch self {
                case .seeOtherMissing, .movedMissing: return .status(404)
                case .seeOtherBusy: return .status(503, header: [.retryAfter: "1000"])
                case .seeOtherLost: return .fail(.networkConnectionLost)
                case .seeOtherRefused: return .fail(.cannotConnectToHost)
                case .seeOtherUnauthorized: return .status(403)
                case .fine, .undecodable: return .reply(text: "1")
                }
            }
            switch self {
            case .fine: return .reply(text: "1")
            case .undecodable: return .reply(text: "created")
            case .movedMissing: return .status(302, header: [.location: "/result"])
            default: return .status(303, header: [.location: "/result"])
            }
        }
    }

    @Test("the cache forgets what is stored, however the call ends", arguments: Answer.allCases)
    func cache(answer: Answer) async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = ScriptedTransport(clock: clock) { request, _ in
                request.method == .post || request.url.path == "/result"
                    ? answer.reply(to: request) : .reply(header: ["Cache-Control": "max-age=600"], text: "ok")
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [HttpCache(wallClock: { clock.date })],
                transport: transport,
                clock: clock
            )
            #expect(text(await Ping.get.result(with: service)) == "ok")
            _ = try? await Change().schedule(with: service)
            #expect(text(await Ping.get.result(with: service)) == "ok")
            #expect(transport.attempts.count { $0.request.method == .get && $0.request.url.path == "/things" } == 2)
        }
    }

    @Test(
        "a later call gets no answer that was requested before, however the call of the change ends",
        arguments: Answer.allCases
    )
    func coalescing(answer: Answer) async throws {
        try await simulate { simulation in
            let clock = simulation.clock
            let isChanged = Locked(false)
            let transport = ScriptedTransport(clock: clock) { request, _ in
                if request.method == .post {
                    isChanged.withLock { $0 = true }
                    return answer.reply(to: request)
                }
                if request.url.path == "/result" { return answer.reply(to: request) }
                let state = isChanged.withLock { $0 ? "new" : "old" }
                return .delay(.seconds(5), then: .reply(text: state))
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: [RequestCoalescing()],
                transport: transport,
                clock: clock
            )
            async let before = Ping.get.result(with: service)
            try await clock.sleep(for: .seconds(1))
            _ = try? await Change().schedule(with: service)
            #expect(text(await Ping.get.result(with: service)) == "new")
            _ = await before
        }
    }
}
