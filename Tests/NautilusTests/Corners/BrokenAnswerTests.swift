import Foundation
import NautilusCaching
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("An answer whose status has arrived, and whose body fails")
struct BrokenAnswerTests {
    /// A transport that brings the answers' headers and a part of their bodies, and then fails.
    private static func failing(
        _ statuses: [Int],
        header: HttpHeader = [:],
        by reply: ScriptedReply = .fail(.cannotDecodeContentData)
    ) -> @Sendable (ManualClock) -> ScriptedTransport {
        { clock in
            ScriptedTransport(clock: clock) { _, context in
                guard context.number <= statuses.count else { return .reply(text: "ok") }
                let status = statuses[context.number - 1]
                context.noteAnswer(HttpResponse(status: status, header: header, body: Data("part".utf8)))
                return reply
            }
        }
    }

    private static let failures: [ScriptedReply] = [
        .fail(.cannotDecodeContentData), .fail(.networkConnectionLost), .fail(.badServerResponse),
        .fail(TransportError.responseTooLarge(limit: 7)),
    ]

    @Test("F3: an error status is the answer, whatever becomes of its body", arguments: [401, 403, 404, 409, 501])
    func errorStatus(status: Int) async throws {
        for failure in Self.failures {
            let outcome = try await outcome(of: Ping.get, from: Self.failing([status], by: failure))
            let error = try #require(outcome.error)
            #expect(error.kind == .status(status))
            #expect(error.status == status)
            #expect(error.response?.body == Data("part".utf8))
            #expect(error.response?.url?.host == "api.example.com")
            #expect(outcome.trace.exchanges.map(\.status) == [status])
            #expect(outcome.attempts == 1)
        }
    }

    @Test("F3: a 503 with a broken body is retried when its Retry-After says so, even for a POST")
    func retryAfter() async throws {
        let outcome = try await outcome(of: Ping.post, from: Self.failing([503], header: ["Retry-After": "7"]))
        #expect(outcome.error == nil)
        #expect(outcome.delays == [.seconds(7)])
        #expect(outcome.trace.exchanges.first?.delivery == .rejected)
    }

    @Test("F3: a success with a broken body is an error of the body, with the status in it", arguments: [200, 206])
    func success(status: Int) async throws {
        let outcome = try await outcome(of: Ping.get, from: Self.failing([status]))
        let error = try #require(outcome.error)
        #expect(error.kind == .transport(.cannotDecodeContentData))
        #expect(error.delivery == .maybeExecuted)
        #expect(error.status == status)
        #expect(error.response?.body == Data("part".utf8))
        #expect(error.exchange?.outcome == .failed(.transport(.cannotDecodeContentData)))
    }

    @Test("F3: a success that breaks off is tried again, since the next body may be whole")
    func retriedSuccess() async throws {
        let outcome = try await outcome(of: Ping.get, from: Self.failing([200], by: .fail(.networkConnectionLost)))
        #expect(outcome.response?.body == "ok")
        #expect(outcome.attempts == 2)
    }

    @Test("F3: a status that the request accepts is a success like any other, and its broken body an error")
    func accepted() async throws {
        let request = Ping(acceptedStatusCodes: [200, 404])
        let outcome = try await outcome(of: request, from: Self.failing([404]))
        #expect(outcome.error?.kind == .transport(.cannotDecodeContentData))
        #expect(outcome.error?.status == 404)
    }

    @Test("F3: a status that the request does not accept is the answer, even if it is a success")
    func unaccepted() async throws {
        let outcome = try await outcome(of: Ping(acceptedStatusCodes: [201]), from: Self.failing([200]))
        #expect(outcome.error?.kind == .status(200))
    }

    @Test("F3: a redirect is followed though its body is broken")
    func redirect() async throws {
        let outcome = try await outcome(of: Ping.get) { clock in
            ScriptedTransport(clock: clock) { request, context in
                guard !request.url.path.hasSuffix("next") else { return .reply(text: "ok") }
                let header: HttpHeader = [.location: "/next"]
                context.noteAnswer(HttpResponse(status: 302, header: header, body: Data()))
                return .fail(.cannotDecodeContentData)
            }
        }
        #expect(outcome.response?.body == "ok")
        #expect(outcome.trace.exchanges.map(\.status) == [302, 200])
    }

    @Test("F3: what was noted of a redirect's answer is not taken for the next hop's")
    func nextHop() async throws {
        let outcome = try await outcome(of: Ping.get, retrier: .never) { clock in
            ScriptedTransport(clock: clock) { request, context in
                guard !request.url.path.hasSuffix("next") else { return .fail(.networkConnectionLost) }
                context.noteAnswer(HttpResponse(status: 302, header: [.location: "/next"], body: Data()))
                return .fail(.cannotDecodeContentData)
            }
        }
        #expect(outcome.error?.kind == .transport(.networkConnectionLost))
        #expect(outcome.error?.status == nil)
    }

    @Test("F3: a status whose body does not end is the answer when the attempt's time is over", arguments: [401, 503])
    func timeout(status: Int) async throws {
        let request = Ping(timeout: .seconds(3))
        let outcome = try await outcome(
            of: request,
            retrier: .never,
            from: Self.failing([status], by: .hang)
        )
        #expect(outcome.error?.kind == .status(status))
        #expect(outcome.end == .seconds(3))
    }

    @Test("F3: a success or a redirect whose body does not end is a timeout", arguments: [200, 302])
    func successfulTimeout(status: Int) async throws {
        let outcome = try await outcome(
            of: Ping(timeout: .seconds(3)),
            retrier: .never,
            from: Self.failing([status], header: [.location: "/next"], by: .hang)
        )
        #expect(outcome.error?.kind == .timeout(.seconds(3)))
    }

    @Test("F3: a cancelled call ends as cancelled, whatever status had arrived")
    func cancelled() async throws {
        let outcome = try await outcome(
            of: Ping.get,
            from: Self.failing([503], by: .fail(CancellationError()))
        )
        #expect(outcome.error?.kind != .status(503))
    }

    @Test("F3: an answer whose body is broken is not kept by a cache")
    func notCached() async throws {
        let count = Locked(0)
        let header: HttpHeader = ["Cache-Control": "max-age=3600"]
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [HttpCache()],
            transport: ScriptedTransport { _, context in
                let isFirst = count.withLock { count in
                    count += 1
                    return count == 1
                }
                guard isFirst else { return .status(404, header: header, body: Data("whole".utf8)) }
                context.noteAnswer(HttpResponse(status: 404, header: header, body: Data("who".utf8)))
                return .fail(.networkConnectionLost)
            }
        )
        for body in ["who", "whole", "whole"] {
            let error = await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: service) }
            #expect(error?.status == 404)
            #expect(error?.response.map { String(decoding: $0.body, as: UTF8.self) } == body)
        }
        // The third answer comes from the cache, which has kept the second.
        #expect(count.withLock { $0 } == 2)
    }
}
