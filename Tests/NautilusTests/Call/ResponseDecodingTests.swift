import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Results of a status and a header")
struct ResponseDecodingTests {
    private struct Named: Request {
        typealias Result = String?
        var route: HttpRoute { [] }
        var acceptedStatusCodes: HttpStatusCodes { [.success, 304] }
        func decode(_ data: Data) throws -> String? { String(decoding: data, as: UTF8.self) }
        func status(of response: HttpResponse<Data>) -> AnswerStatus {
            AnswerStatus(response.body == Data("expired".utf8) ? 401 : response.status)
        }
        func decode(_ response: HttpResponse<Data>) throws -> String? {
            response.status == 200 ? try decode(response.body) : nil
        }
    }

    @Test("204 and 304 have a result of their own", arguments: [(200, "a"), (204, nil), (304, nil)])
    func statuses(status: Int, result: String?) async throws {
        let transport = ScriptedTransport(.reply(status: status, text: "a"))
        let service = AnyHttpService(apiUrl: "a.com", transport: transport)
        #expect(try await Named().schedule(with: service) == result)
    }

    @Test("an error in a 200 is to the retrier what the status would have been")
    func disguised() async throws {
        struct Refresh: Retrier {
            mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
                RetryDecision(booleanLiteral: error.rejectsCredential)
            }
        }
        let transport = ScriptedTransport(.reply(text: "expired"), .reply(text: "a"))
        let factory = AnyRetrierFactory { _ in Refresh() }
        let service = AnyHttpService(apiUrl: "a.com", retrierFactory: factory, transport: transport)
        #expect(try await Named().schedule(with: service) == "a")
        #expect(transport.count == 2)
    }
}
