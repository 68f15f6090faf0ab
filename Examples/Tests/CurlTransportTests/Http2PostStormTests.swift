import Foundation
import Nautilus
import Testing

@Suite("A storm of what must not run twice, over HTTP/2", .timeLimit(.minutes(10)), .whereHttp2Traced)
struct Http2PostStormTests {
    private static let count = 2_000

    fileprivate enum Outcome: Hashable {
        case answered, notSent, maybeExecuted, cancelled
        case other(String)
    }

    @Test("refused, reset, lost and given up at random, some cancelled: none is executed twice, each has its end")
    func storm() async throws {
        try await Http2Server.run { server in
            let outcomes = try await Self.outcomes(of: server)
            let report = try await server.report()
            #expect(report.mostExecuted == 1)
            let (answered, unsent) = (outcomes.count(of: .answered), outcomes.count(of: .notSent))
            let others = outcomes.count(of: .maybeExecuted) + outcomes.count(of: .cancelled)
            #expect(answered + unsent + others == Self.count, "\(Set(outcomes))")
            // All that were answered were executed, and none that counts as not sent.
            #expect(report.executed >= answered)
            #expect(report.executed <= Self.count - unsent)
            #expect(answered >= Self.count / 2)
            #expect(!report.requests.contains { $0.hasSuffix("http/1.1") })
        }
    }

    /// Sends all, 64 at once.
    private static func outcomes(of server: Http2Server) async throws -> [Outcome] {
        let transport = server.transport()
        return try await withThrowingTaskGroup(of: Outcome.self) { group in
            var outcomes: [Outcome] = []
            for number in 0..<count {
                if number >= 64, let outcome = try await group.next() { outcomes.append(outcome) }
                let url = try server.url("/posts/\(number)")
                group.addTask { await outcome(of: number, url, transport) }
            }
            for try await outcome in group { outcomes.append(outcome) }
            return outcomes
        }
    }

    private static func outcome(of number: Int, _ url: URL, _ transport: CurlTransport) async -> Outcome {
        let body = number % 3 == 0 ? HttpBody.Payload.empty : .data(Data(count: number % 3 == 1 ? 100 : 40_000))
        let exchange = Task { try await send(.post, url, body: body, through: transport).text }
        if number % 10 == 1 {
            for _ in 0..<(number % 50) { await Task.yield() }
            exchange.cancel()
        }
        do {
            let text = try await exchange.value
            return text == url.path ? .answered : .other(text)
        } catch is CancellationError {
            return .cancelled
        } catch TransportError.failed(_, .notSent, _) {
            return .notSent
        } catch TransportError.failed(_, .maybeExecuted, _) {
            return .maybeExecuted
        } catch {
            return .other("\(error)")
        }
    }
}

extension [Http2PostStormTests.Outcome] {
    fileprivate func count(of outcome: Element) -> Int { count { $0 == outcome } }
}
