import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite(
    "Hostile servers and exchanges",
    .serialized,
    .timeLimit(.minutes(10)),
    .whereAvailable
)
struct HostileServerTests {
    /// A limit that endless bodies reach soon.
    private static let limit = 100_000

    @Test("a hostile answer ends the exchange as expected", arguments: HostileAnswer.all)
    func answer(_ answer: HostileAnswer) async throws {
        try await ScriptedServer.run(answer.script) { server in
            let ending = try await ending { try await send(.post, server.url, through: Self.transport) }
            if answer.ending != .either { #expect(ending == answer.ending) }
        }
    }

    @Test("a hostile answer that is streamed ends the exchange as expected", arguments: HostileAnswer.all)
    func streamed(_ answer: HostileAnswer) async throws {
        try await ScriptedServer.run(answer.script) { server in
            let ending = try await ending {
                let response = try await stream(.post, server.url, through: Self.transport)
                do {
                    return response.replacingBody(try await response.body.collected(limit: Self.limit))
                } catch HttpBodyStream.ReadError.tooLarge(let limit) {
                    throw TransportError.responseTooLarge(limit: limit)
                }
            }
            // Only a body that is kept until it is whole is refused for the length that it announces.
            if answer.ending != .either, answer.testDescription != "a length over the limit" {
                #expect(ending == answer.ending)
            }
        }
    }

    @Test("all answers at once on one transport, and then a good one")
    func storm() async throws {
        try await Self.storm()
    }

    /// How many storms there are: `NAUTILUS_SOAK` says how many for a soak, of which 400 take ten minutes.
    private static let storms = ProcessInfo.processInfo.environment["NAUTILUS_SOAK"].flatMap { Int($0) } ?? 3

    @Test(
        "hostile servers leave no thread, no descriptor and no memory behind",
        .enabled(if: OpenDescriptors.canBeCounted, "counted where nothing else runs, with NAUTILUS_ALONE=1"),
        .timeLimit(.minutes(30))
    )
    func nothingLeft() async throws {
        // The servers' own event loop stays, and is there from the first exchange on; so do the allocator's pools.
        for _ in 0..<2 { try await Self.storm() }
        let before = try #require(try await OpenDescriptors.settled())
        let memory = try ResidentMemory.mebibytes()
        for _ in 0..<Self.storms { try await Self.storm() }
        // A descriptor of a storm's would be there three times; the runtime opens one of its own when it first needs it.
        let after = try #require(try await OpenDescriptors.settled(at: before))
        #expect((before...(before + 1)).contains(after))
        let growth = try ResidentMemory.mebibytes() - memory
        #expect(growth < ResidentMemory.limit)
        print("\(Self.storms) storms of \(HostileAnswer.all.count) answers: \(before) descriptors, \(growth) MiB more")
    }

    private static func storm() async throws {
        let transport = transport
        try await withThrowingTaskGroup(of: Void.self) { group in
            for answer in HostileAnswer.all.shuffled() {
                group.addTask {
                    try await ScriptedServer.run(answer.script) { server in
                        _ = try await ending { try await send(.get, server.url, through: transport) }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.respond(body: Data("hello".utf8))
        } whileOpen: { server in
            let text = try await send(.get, server.url, through: transport).text
            #expect(text == "hello")
        }
    }

    private static var transport: any HttpTransport { TransportUnderTest.make(responseLimit: limit) }
}

/// The outcome of an exchange.
private func ending(of exchange: () async throws -> HttpResponse<Data>) async throws -> HostileAnswer.Ending {
    do {
        let response = try await exchange()
        #expect(response.status == 200)
        return .success(response.text)
    } catch let error as TransportError {
        switch error {
        case .failed(let code, let delivery, _):
            // A connection may end before anything of the request was written.
            #expect(delivery == .maybeExecuted || [.networkConnectionLost, .cannotConnectToHost].contains(code))
            return .failure(code)
        case .responseTooLarge: return .tooLarge
        }
    }
}
