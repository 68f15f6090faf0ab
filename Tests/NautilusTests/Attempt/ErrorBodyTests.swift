import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("An error in a body")
struct ErrorBodyTests {
    private struct Problem: Codable, Hashable { let code: Int }

    private enum ShopError: Error, Hashable {
        case refused(Problem)
        case failed(FailureKind)
    }

    private struct Shop: HttpService {
        let transport: any HttpTransport
        var apiUrl: any UrlConvertible { "a.com" }
        func mapError(_ error: HttpError) -> ShopError {
            error.responseBody(as: Problem.self).map(ShopError.refused) ?? .failed(error.kind)
        }
    }

    @Test("an error in a body becomes the service's own error, where it is one")
    func mapped() async throws {
        let large = Data(repeating: 0x20, count: HttpError.bodyLimit) + Data("{\"code\":7}".utf8)
        let cases: [(ScriptedReply, ShopError)] = [
            (.json(Problem(code: 7), status: 422), .refused(Problem(code: 7))),
            (.reply(status: 422, text: "no JSON"), .failed(.status(422))),
            (.status(422, body: large), .failed(.status(422))),
            (.fail(.timedOut), .failed(.transport(.timedOut))),
        ]
        for (reply, expected) in cases {
            let shop = Shop(transport: ScriptedTransport(reply))
            await #expect(throws: expected) { try await Ping.get.schedule(with: shop) }
        }
    }

    /// The server says in a 200 that the token has expired.
    private struct Disguised: Request {
        typealias Result = String
        var route: HttpRoute { [] }
        func decode(_ data: Data) throws -> String { try data.text(in: .utf8) }
        func status(of response: HttpResponse<Data>) -> AnswerStatus {
            AnswerStatus(response.body == Data("expired".utf8) ? 401 : response.status)
        }
    }

    @Test("an authorization error in a 200 causes one refresh for a hundred calls", arguments: TokenWorld.seeds)
    func disguised(seed: UInt64) async throws {
        try await simulate(seed: seed) { simulation in
            let world = TokenWorld(
                simulation,
                answer: { _, isAccepted in
                    .delay(.milliseconds(10), then: .reply(text: isAccepted ? "ok" : "expired"))
                }
            )
            let results = await withTaskGroup(of: String?.self) { group in
                for _ in 0..<100 { group.addTask { try? await Disguised().schedule(with: world.service) } }
                return await group.reduce(into: [String?]()) { $0.append($1) }
            }
            #expect(results == Array(repeating: "ok", count: 100))
            #expect(world.server.refreshCount == 1)
            #expect(world.transport.count == 200)
        }
    }
}
