import Foundation
import Nautilus
import Testing

@Suite("A storm over HTTP/2 leaves nobody waiting", .timeLimit(.minutes(10)), .whereHttp2)
struct Http2StormTests {
    private static let count = 2_000

    private enum Outcome: Hashable {
        case answered
        case cancelled
        case other(String)
    }

    @Test(
        "64 at once, a quarter cancelled, on connections that the server keeps giving up: each is answered or cancelled"
    )
    func storm() async throws {
        try await Http2Server.run { server in
            let transport = server.transport()
            let counts = try await withThrowingTaskGroup(of: Outcome.self) { group in
                var counts: [Outcome: Int] = [:]
                for number in 0..<Self.count {
                    if number >= 64, let outcome = try await group.next() { counts[outcome, default: 0] += 1 }
                    let url = try server.url("/storm/\(number)")
                    group.addTask { await Self.outcome(of: number, url, transport) }
                }
                return try await group.reduce(into: counts) { $0[$1, default: 0] += 1 }
            }
            #expect(counts[.answered, default: 0] + counts[.cancelled, default: 0] == Self.count, "\(counts)")
            #expect(counts[.answered, default: 0] >= Self.count * 3 / 4)
        }
    }

    private static func outcome(of number: Int, _ url: URL, _ transport: CurlTransport) async -> Outcome {
        let exchange = Task { try await send(.get, url, through: transport).text }
        if number % 4 == 1 {
            for _ in 0..<(number % 50) { await Task.yield() }
            exchange.cancel()
        }
        do {
            let text = try await exchange.value
            return text == String(repeating: "\(number)", count: 50) ? .answered : .other(text)
        } catch is CancellationError {
            return .cancelled
        } catch {
            return .other("\(error)")
        }
    }
}
