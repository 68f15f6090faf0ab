import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("HttpCache: an account that changes while its stored answer is validated", .endsInTime)
struct CacheAccountChangeTests {
    /// The answer to a call that begins as anna's, whose answer is stored and stale, and is authorized as bert's.
    private static func get(
        _ header: HttpHeader,
        bert: @escaping @Sendable (HttpRequest) -> ScriptedReply
    ) async -> (outcome: String, world: CacheWorld) {
        let (user, isSwitching) = (Locked<String?>("anna"), Locked(false))
        let world = CacheWorld(
            accounts: .separate { _ in user.withLock { $0 } },
            staleIfError: .seconds(60),
            retrier: UserRetrier.factory(user),
            inside: [Passage { if isSwitching.withLock({ $0 }) { user.withLock { $0 = "bert" } } }]
        ) { request, _ in
            request.header[.authorization] == "Bearer bert" ? bert(request) : .reply(header: header, text: "anna's")
        }
        #expect(await world.get() == "200 anna's")
        world.advance(1)
        isSwitching.withLock { $0 = true }
        return (await world.get(), world)
    }

    @Test(
        "a 304 to the other account is not taken for the first one's: the server is asked again without a condition",
        arguments: [("ETag", "\"1\""), ("Last-Modified", httpDate(-10))] as [(HttpHeader.Name, String)]
    )
    func notModified(name: HttpHeader.Name, value: String) async throws {
        let header = HttpHeader([.init(name: "Cache-Control", value: "max-age=1"), .init(name: name, value: value)])
        let (outcome, world) = await Self.get(header) { request in
            request.header["If-None-Match"] != nil || request.header["If-Modified-Since"] != nil
                ? .status(304)
                : .reply(header: header, text: "bert's")
        }
        #expect(outcome == "200 bert's")
        // Anna's is still there, for her.
        #expect((world.transport.count, world.cache.responseCount) == (3, 1))
    }

    @Test(
        "nothing of the first account stands in for an answer to the other that fails",
        arguments: [ScriptedReply.status(503), .fail(.networkConnectionLost)]
    )
    func failed(reply: ScriptedReply) async throws {
        let header: HttpHeader = ["Cache-Control": "max-age=1", "ETag": "\"1\""]
        let (outcome, world) = await Self.get(header) { _ in reply }
        #expect(!outcome.hasPrefix("200"))
        #expect((world.transport.count, world.cache.responseCount) == (2, 1))
    }
}
