import Foundation
import Nautilus
import NautilusCurl
import ScriptedSockets
import Testing

@Suite("Web sockets to hostile servers", .whereAvailable, .timeLimit(.minutes(10)))
struct HostileSocketTests {
    private static let lost = Failure(code: .networkConnectionLost, delivery: .maybeExecuted)
    private static let refused = Failure(code: .badServerResponse, delivery: .maybeExecuted)

    @Test("an answer that is cut, at every byte", arguments: [true, false])
    func cutAnswer(inOrder: Bool) async throws {
        let cuts = Shared(0)
        try await ScriptedServer.run { connection in
            let answer = Data(try await connection.readRequest().acceptance().utf8)
            let count = cuts.withLock { $0 }
            // The last byte would complete it.
            guard count < answer.count else { return try await connection.write(answer + RawFrame.close(1000).bytes) }
            try await connection.write(answer.prefix(count))
            if !inOrder { await connection.reset() }
        } whileOpen: { server in
            while true {
                guard let failure = try await failed({ try await tryOpening(server.socketUrl) }) else { break }
                #expect(failure == Self.lost)
                cuts.withLock { $0 += 1 }
            }
            #expect(cuts.withLock { $0 } > 100)
        }
    }

    @Test("frames that are cut, at every byte: whole messages are heard before the loss")
    func cutFrames() async throws {
        let frames = [
            RawFrame.text("one"), .ping("x"), .text("tw", isLast: false), .continuation([0x6F], isLast: true),
            .data([UInt8](repeating: 7, count: 130)),
        ].map(\.bytes)
        let bytes = Data(frames.joined())
        let ends = [frames[0].count, frames[0...3].joined().count, bytes.count]
        let cuts = Shared(0)
        try await ScriptedServer.run { connection in
            let acceptance = try await connection.readRequest().acceptance()
            try await connection.write(Data(acceptance.utf8) + bytes.prefix(cuts.withLock { $0 }))
        } whileOpen: { server in
            for cut in 0...bytes.count {
                cuts.withLock { $0 = cut }
                let connection = try await openSocket(server.socketUrl)
                var count = 0
                let failure = try await failed {
                    while true {
                        _ = try await connection.receive()
                        count += 1
                    }
                }
                #expect(failure == Self.lost)
                #expect(count == ends.filter { $0 <= cut }.count)
            }
        }
    }

    @Test("a header without end, interim answers without end, a version of long ago", arguments: EndlessAnswer.allCases)
    func endless(answer: EndlessAnswer) async throws {
        try await ScriptedServer.run { connection in
            let acceptance = try await connection.readRequest().acceptance()
            switch answer {
            case .line:
                try await connection.write("HTTP/1.1 101 Switching Protocols\r\nX: ")
                while true { try await connection.write(String(repeating: "a", count: 10_000)) }
            case .fields:
                try await connection.write("HTTP/1.1 101 Switching Protocols\r\n")
                while true { try await connection.write(String(repeating: "X: a\r\n", count: 1000)) }
            case .interims:
                while true { try await connection.write("HTTP/1.1 102 Processing\r\n\r\n") }
            case .old:
                try await connection.write(acceptance.replacingOccurrences(of: "HTTP/1.1", with: "HTTP/1.0"))
                _ = await connection.readToEnd()
            }
        } whileOpen: { server in
            let failure = try await failed { try await tryOpening(server.socketUrl) }
            #expect(failure == Self.refused)
        }
    }

    @Test("interim answers before the 101 are passed over")
    func interims() async throws {
        try await ScriptedServer.run { connection in
            let acceptance = try await connection.readRequest().acceptance()
            try await connection.write("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\(acceptance)")
            try await connection.write(.text("a"))
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let message = try await openSocket(server.socketUrl).receive()
            #expect(message == .text("a"))
        }
    }

    @Test("a refusal whose body has no end is an answer all the same")
    func endlessBody() async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.write("HTTP/1.1 503 Service Unavailable\r\n\r\n")
            while true { try await connection.write(String(repeating: "a", count: 10_000)) }
        } whileOpen: { server in
            guard case .declined(let response) = try await tryOpening(server.socketUrl) else {
                Issue.record("It was opened.")
                return
            }
            #expect(response.status == 503)
            #expect(response.body.count == 65_536)
        }
    }

    @Test(
        "a server that does not answer a closing, goes on behind it, or does not read it, is cut",
        arguments: Silence.allCases
    )
    func silent(silence: Silence) async throws {
        let left = Signal()
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket()
            switch silence {
            case .unanswered: _ = await connection.readToEnd()
            case .goesOn:
                let message = RawFrame.data([UInt8](repeating: 7, count: 10_000)).bytes
                while (try? await connection.write(message)) != nil {}
            case .closesFirst:
                try await connection.write(.close(1000))
                _ = await connection.readToEnd()
            case .doesNotRead:
                try await connection.ignore()
            }
            left.fire()
        } whileOpen: { server in
            let configuration = CurlWebSocketTransport.Configuration(closeTimeout: .milliseconds(50))
            let transport = CurlWebSocketTransport(configuration: configuration)
            let connection = try await openSocket(server.socketUrl, through: transport)
            switch silence {
            case .closesFirst:
                await #expect(throws: WebSocketClosure(.normalClosure)) { try await connection.receive() }
            case .doesNotRead:
                let message = WebSocketMessage.data(Data(count: 16 * 1_048_576))
                let sending = Task { while true { try await connection.send(message) } }
                try await Task.sleep(for: .milliseconds(20))
                await connection.close(WebSocketClosure(.normalClosure))
                await #expect(throws: WebSocketClosure(.normalClosure)) { _ = try await sending.value }
                // It would hang for ever, which its script is ended for.
                return
            case .unanswered, .goesOn:
                await connection.close(WebSocketClosure(.normalClosure))
                await #expect(throws: WebSocketClosure(.normalClosure)) { try await connection.receive() }
            }
            await left.wait()
        }
    }

    @Test("a server that only pings, and reads no pong, fills no memory, and is heard")
    func pings() async throws {
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket()
            let pings = Data((0..<1000).map { _ in RawFrame.ping(String(repeating: "p", count: 125)).bytes }.joined())
            for _ in 0..<200 { try await connection.write(pings) }
            try await connection.write(.text("heard"))
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let message = try await openSocket(server.socketUrl).receive()
            #expect(message == .text("heard"))
        }
    }

    @Test("500 sockets, opened, cancelled, closed, cut and released, all end")
    func storm() async throws {
        try await Self.storm()
    }

    @Test(
        "hostile web socket servers leave no thread, no descriptor and no memory behind",
        .enabled(if: OpenDescriptors.canBeCounted, "counted where nothing else runs, with NAUTILUS_ALONE=1"),
        .timeLimit(.minutes(30))
    )
    func nothingLeft() async throws {
        // The servers' own event loop stays, and is there from the first exchange on; so do the allocator's pools.
        for _ in 0..<2 { try await Self.storm() }
        let before = try #require(try await OpenDescriptors.settled())
        let memory = try ResidentMemory.mebibytes()
        for _ in 0..<3 { try await Self.storm() }
        // A descriptor of a storm's would be there three times; the runtime opens one of its own when it first needs it.
        let after = try #require(try await OpenDescriptors.settled(at: before))
        #expect((before...(before + 1)).contains(after))
        #expect(try ResidentMemory.mebibytes() - memory < ResidentMemory.limit)
    }

    private static func storm() async throws {
        try await ScriptedServer.run { connection in
            try await connection.acceptSocket(then: .text("a"))
            if Bool.random() { return await connection.reset() }
            let frame = try await connection.readFrame()
            try await connection.write(RawFrame(firstByte: frame.firstByte, payload: frame.payload))
            _ = await connection.readToEnd()
        } whileOpen: { server in
            let transport = CurlWebSocketTransport(
                over: CurlTransport(),
                configuration: .init(closeTimeout: .milliseconds(100))
            )
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<500 {
                    if number >= 50 { await group.next() }
                    group.addTask { await Self.use(server.socketUrl, through: transport, number) }
                }
            }
        }
    }

    /// Uses a socket in a way that depends on its number, and perhaps only for a while.
    private static func use(_ url: URL, through transport: CurlWebSocketTransport, _ number: Int) async {
        let work = Task {
            let connection = try await openSocket(url, through: transport)
            _ = try await connection.receive()
            if number % 3 == 0 { try await connection.send(.text("b")) }
            if number % 5 == 0 { await connection.close(WebSocketClosure(.normalClosure)) }
        }
        if number % 2 == 0 {
            for _ in 0..<(number % 40) { await Task.yield() }
            work.cancel()
        }
        _ = await work.result
    }
}

enum EndlessAnswer: CaseIterable {
    case line, fields, interims, old
}

enum Silence: CaseIterable {
    case unanswered, goesOn, closesFirst, doesNotRead
}
