import Foundation
import Nautilus
import NautilusTesting
import ScriptedSockets
import Testing

@Suite("A storm of exchanges", .timeLimit(.minutes(10)), .whereAvailable)
struct StormTests {
    #if DEBUG
        private static let count = 4_000
    #else
        private static let count = 20_000
    #endif

    @Test("64 at once, half of them cancelled at any point of the exchange: every one is answered or cancelled")
    func storm() async throws {
        let cancellations = Cancellations()
        let outcomes = try await ScriptedServer.run {
            try await Self.answerInPieces($0, cancellations)
        } whileOpen: { server in
            await Self.outcomes(cancellations, server.url)
        }
        #expect(outcomes.answered + outcomes.cancelled == Self.count)
        #expect(outcomes.unexpected.isEmpty)
        // Those that were not cancelled are answered; of the others, some are too quick.
        #expect(outcomes.answered >= Self.count / 2)
        #expect(outcomes.cancelled > Self.count / 4)
    }

    fileprivate struct Outcomes {
        var answered = 0
        var cancelled = 0
        var unexpected: [String] = []
    }

    /// The response to exchange `number`, cut where a cancellation may strike: in the header, after it, in the body.
    private static func pieces(of number: Int) -> [String] {
        let body = String(repeating: "\(number) ", count: 100)
        let half = body.index(body.startIndex, offsetBy: body.count / 2)
        let head = ["HTTP/1.1 200 OK\r\nX-Num", "ber: \(number)\r\nContent-Length: \(body.utf8.count)\r\n\r\n"]
        return head + [String(body[..<half]), String(body[half...])]
    }

    /// Request `/{number}/{piece}` is cancelled before that piece of its response is written, or after the last.
    private static func answerInPieces(_ connection: ScriptedConnection, _ cancellations: Cancellations) async throws {
        while true {
            let path = try await connection.readRequest().path.split(separator: "/").compactMap { Int($0) }
            let struck = path.count > 1 ? path[1] : nil
            let pieces = pieces(of: path[0])
            for (index, piece) in pieces.enumerated() {
                if struck == index { await cancellations.strike(path[0]) }
                try await connection.write(piece)
            }
            if struck == pieces.count { await cancellations.strike(path[0]) }
        }
    }

    private static func outcomes(_ cancellations: Cancellations, _ url: URL) async -> Outcomes {
        let transport = TransportUnderTest.make(connectionsPerHost: 16)
        var outcomes = Outcomes()
        var random = SeededGenerator(seed: 20_261_121)
        await withTaskGroup(of: Result<Int, any Error>.self) { group in
            for number in 0..<count {
                if number >= 64 { outcomes.add(await group.next()) }
                let piece = number.isMultiple(of: 2) ? nil : Int(random.next() % 6)
                group.addTask {
                    let sending = await cancellations.start(number) {
                        try await exchange(number, piece, transport, url)
                    }
                    // Some never get as far as the server.
                    if piece == 5 { sending.cancel() }
                    return await sending.result
                }
            }
            for await result in group { outcomes.add(result) }
        }
        return outcomes
    }

    private static func exchange(
        _ number: Int,
        _ piece: Int?,
        _ transport: any HttpTransport,
        _ url: URL
    ) async throws -> Int {
        let path = piece.map { "\(number)/\($0)" } ?? "\(number)"
        let response = try await send(.post, url.appendingPathComponent(path), through: transport)
        let isOwn = response.header["X-Number"] == "\(number)" && response.text == pieces(of: number)[2...].joined()
        guard isOwn else { throw URLError(.cannotParseResponse) }
        return response.status
    }
}

/// The exchanges of a storm, so that the server can cancel one when it has got somewhere.
private actor Cancellations {
    private var exchanges: [Int: Task<Int, any Error>] = [:]

    /// Starts an exchange; it is known before the server can have heard of it.
    func start(
        _ number: Int,
        _ exchange: @escaping @Sendable () async throws -> Int
    ) -> Task<Int, any Error> {
        let task = Task { try await exchange() }
        exchanges[number] = task
        return task
    }

    func strike(_ number: Int) {
        exchanges.removeValue(forKey: number)?.cancel()
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
