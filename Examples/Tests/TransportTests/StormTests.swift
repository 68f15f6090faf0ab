import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("A storm leaves nobody waiting", .timeLimit(.minutes(5)))
struct StormTests {
    #if DEBUG
        private static let count = 4_000
    #else
        private static let count = 20_000
    #endif

    @Test("64 at once, half of them cancelled at a moment of their own: every one is answered or cancelled")
    func storm() async throws {
        let transport = URLSessionTransport()
        let script = ConformanceScript()
        let outcomes = try await ScriptedServer.run {
            try await script.serve($0)
        } whileOpen: { server in
            await Self.outcomes(of: transport, server.url.appendingPathComponent("echo"))
        }
        #expect(outcomes.answered + outcomes.cancelled == Self.count)
        #expect(outcomes.unexpected.isEmpty)
        // Those that nobody cancelled are answered; of the others, some are too quick.
        #expect(outcomes.answered >= Self.count / 2)
        #expect(outcomes.cancelled > 0)
    }

    fileprivate struct Outcomes {
        var answered = 0
        var cancelled = 0
        var unexpected: [String] = []
    }

    private static func outcomes(of transport: URLSessionTransport, _ url: URL) async -> Outcomes {
        var outcomes = Outcomes()
        var random = SplitMix(state: 20_261_121)
        await withTaskGroup(of: Result<Int, any Error>.self) { group in
            for number in 0..<count {
                if number >= 64 { outcomes.add(await group.next()) }
                // Yields stand for time: how many pass before the cancellation decides where it strikes.
                let yields = number.isMultiple(of: 2) ? nil : Int(random.next() % 400)
                group.addTask { await exchange(number, yields, transport, url) }
            }
            for await result in group { outcomes.add(result) }
        }
        return outcomes
    }

    private static func exchange(
        _ number: Int,
        _ yields: Int?,
        _ transport: URLSessionTransport,
        _ url: URL
    ) async -> Result<Int, any Error> {
        let sending = Task {
            let body = Data("\(number)".utf8)
            let response = try await send(.post, url, body: .data(body), through: transport)
            guard response.body == body else { throw URLError(.cannotParseResponse) }
            return response.status
        }
        if let yields {
            for _ in 0..<yields { await Task.yield() }
            sending.cancel()
        }
        return await sending.result
    }
}

extension StormTests.Outcomes {
    fileprivate mutating func add(_ result: Result<Int, any Error>?) {
        switch result {
        case nil: return
        case .success(200): answered += 1
        case .failure(is CancellationError): cancelled += 1
        case .success(let status): unexpected.append("status \(status)")
        case .failure(let error): unexpected.append("\(error)")
        }
    }
}

/// A small generator whose every run is the same.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
