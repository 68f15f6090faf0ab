import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("Building a request")
struct BuildTests {
    private func built(
        _ request: some Request,
        service: (ScriptedTransport) -> AnyHttpService<HttpError> = {
            AnyHttpService(
                apiUrl: "api.example.com/v1",
                transport: $0
            ).with { $0.header = ["Authorization": "Bearer s", "Accept": "a"] }
        }
    ) async throws -> RecordedAttempt {
        let transport = ScriptedTransport(.status(200))
        _ = try? await request.schedule(with: service(transport))
        return try #require(transport.attempts.first)
    }

    private func refusal(of request: Ping) async -> HttpRequest.Invalid? {
        let transport = ScriptedTransport()
        do throws(HttpError) {
            _ = try await request.schedule(with: AnyHttpService(apiUrl: "api.example.com", transport: transport))
            return nil
        } catch {
            #expect(transport.count == 0)
            #expect(error.stage == .build)
            #expect(error.delivery == .notSent)
            guard case .invalidRequest(let reason) = error.kind else { return nil }
            return reason
        }
    }

    @Test("the request's fields win over the service's, and the asynchronous ones over the synchronous")
    func headerPrecedence() async throws {
        let attempt = try await built(Ping(header: ["c": "request"])) {
            AnyHttpService(
                apiUrl: "api.example.com",
                transport: $0
            ).with {
                $0.header = ["a": "sync", "b": "sync", "c": "sync"]
                $0.asyncHeader = { ["B": "async", "c": "async"] }
            }
        }
        #expect(attempt.header == ["a": "sync", "B": "async", "c": "request"])
    }

    @Test("a request's own base URL gets the service's header, but not its credentials")
    func otherOrigin() async throws {
        let attempt = try await built(Ping(header: ["X-Api-Key": "its own"], url: "https://cdn.example.com/files"))
        #expect(attempt.request.url.absoluteString == "https://cdn.example.com/files/things")
        #expect(attempt.header == ["Accept": "a", "X-Api-Key": "its own"])
    }

    @Test("a request's own path on the same origin keeps the credentials")
    func sameOrigin() async throws {
        let attempt = try await built(Ping(url: "https://api.example.com/v2"))
        #expect(attempt.request.url.absoluteString == "https://api.example.com/v2/things")
        #expect(attempt.header[.authorization] == "Bearer s")
    }

    @Test(
        "a header that would split is refused before anything is sent",
        arguments: ["a\r\nX: y", "a\nb", "a\rb", "a\0b"]
    )
    func splitHeader(_ value: String) async throws {
        #expect(await refusal(of: Ping(header: ["X-Note": value])) == .headerValue(name: "X-Note"))
    }

    @Test("a header name that is no token is refused", arguments: ["", "a b", "a:b", "ä", "a\r\n"])
    func headerName(_ name: String) async throws {
        #expect(await refusal(of: Ping(header: HttpHeader([.init(name: .init(name), value: "x")]))) == .headerName)
    }

    @Test("a body on GET, HEAD or TRACE is refused", arguments: ["GET", "HEAD", "TRACE"] as [HttpMethod])
    func body(_ method: HttpMethod) async throws {
        #expect(await refusal(of: Ping(method: method, body: .data(Data([1])))) == .bodyNotAllowed(method))
    }

    @Test("a method that is no token is refused", arguments: ["", "GET /", "G\r\nET"] as [HttpMethod])
    func method(_ method: HttpMethod) async throws {
        #expect(await refusal(of: Ping(method: method)) == .method)
    }

    @Test("a value that JSON cannot express is refused, with its place")
    func unencodable() async throws {
        #expect(
            await refusal(of: Ping(method: .post, body: .json(["a": [Double.nan]]))) == .bodyNotEncodable(at: "*.0")
        )
    }

    @Test("the body's media type is sent unless the request has its own")
    func contentType() async throws {
        #expect(try await built(Ping(method: .post, body: .json([1]))).header[.contentType] == "application/json")
        let own = Ping(method: .post, header: ["content-type": "application/vnd.notes+json"], body: .json([1]))
        #expect(try await built(own).header[.contentType] == "application/vnd.notes+json")
        #expect(try await built(Ping.get).header[.contentType] == nil)
    }

    @Test("the request's priority reaches the transport", arguments: HttpRequest.Priority.allCases)
    func priority(_ priority: HttpRequest.Priority) async throws {
        #expect(try await built(Ping(priority: priority)).request.priority == priority)
    }

    @Test("an error of an asynchronous header is the attempt's failure, and is retried by whom it concerns")
    func asyncHeaderFails() async throws {
        struct Locked: Error {}
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            transport: ScriptedTransport()
        ).with { $0.asyncHeader = { throw Locked() } }
        let error = await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: service) }
        #expect(error?.stage == .build)
        #expect(error?.kind == .custom)
        #expect(error?.underlying is Locked)
    }
}
