import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Printed errors and traces")
struct PrintingObserverTests {
    @Test("PrintingObserver prints a line for each attempt, without header, query and body")
    func lines() async throws {
        let lines = Locked<[String]>([])
        let transport = ScriptedTransport(.status(503), .reply(text: "secret answer"))
        let service = AnyHttpService(
            apiUrl: "api.example.com/v1",
            retrierFactory: BackoffRetrier.factory(.atOnce),
            transport: transport,
            clock: ManualClock()
        ).with {
            $0.observer = PrintingObserver { line in lines.withLock { $0.append(line) } }
            $0.header = ["Authorization": "secret"]
        }
        _ = try await Ping(route: ["things"]).response(with: service)
        let printed = lines.withLock { $0 }.map { $0.replacing(/call \d+/, with: "call n") }
        #expect(
            printed == [
                "Ping (call n, attempt 1): GET https://api.example.com/v1/things: status 503 after 0 ms (maybeExecuted); "
                    + "BackoffRetrier: retry at once (backoff, retry 1)",
                "Ping (call n, attempt 2): GET https://api.example.com/v1/things: 200 after 0 ms",
            ]
        )
    }

    @Test("a call that ends without an attempt has a line")
    func withoutAttempt() async throws {
        struct Memory: ServiceHook {
            func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
                (Data("remembered".utf8) as? R.Result).map { HttpResponse(status: 200, body: $0) }
            }
        }
        let lines = Locked<[String]>([])
        let transport = ScriptedTransport()
        let service = AnyHttpService(apiUrl: "api.example.com", transport: transport, clock: ManualClock()).with {
            $0.observer = PrintingObserver { line in lines.withLock { $0.append(line) } }
            $0.hook = Memory()
        }
        _ = try await AnyRequest(.get, [], as: Data.self).schedule(with: service)
        let printed = lines.withLock { $0 }.map { $0.replacing(/call \d+/, with: "call n") }
        #expect(
            printed == [
                "AnyRequest<Data> (call n): no attempt within 0 ms; its hook answered it, or it failed before the first"
            ]
        )
    }

    @Test("a declared request is a command of curl, built and not sent")
    func declared() async throws {
        struct Create: JsonRequest {
            typealias Result = [Int]
            var method: HttpMethod { .post }
            var route: HttpRoute { ["a b"] }
            var query: HttpQuery { ["token": "secret"] }
            var body: HttpBody { .json(["name": "it's"]) }
        }
        struct Staging: HttpService {
            let transport: any HttpTransport
            var apiUrl: any UrlConvertible { "api.example.com/v1" }
            var asyncHeader: HttpHeader { get async throws { ["Authorization": "secret"] } }
        }
        let transport = ScriptedTransport()
        let service = Staging(transport: transport)
        #expect(
            try await Create().curlCommand(with: service)
                == "curl --request POST --user-agent Nautilus --header 'Authorization: ‹redacted›' "
                + "--header 'Content-Type: application/json' "
                + "--data-raw '‹15 bytes›' 'https://api.example.com/v1/a%20b?…'"
        )
        #expect(
            try await Create().curlCommand(with: AnyHttpService(service), showsSecrets: true)
                == "curl --request POST --user-agent Nautilus --header 'Authorization: secret' "
                + "--header 'Content-Type: application/json' "
                + #"--data-raw '{"name":"it'\''s"}' 'https://api.example.com/v1/a%20b?token=secret'"#
        )
        #expect(transport.count == 0)
        let error = await #expect(throws: HttpError.self) {
            try await Ping(route: ["", "7"]).curlCommand(with: service)
        }
        #expect(error?.kind == .invalidRequest(.emptyRouteComponent(index: 0)) && error?.stage == .build)
    }

    @Test("a refresh is printed in lines of its own")
    func refresh() {
        let lines = Locked<[String]>([])
        let observer = PrintingObserver { line in lines.withLock { $0.append(line) } }
        observer.observe(.refreshStarted(generation: 1))
        observer.observe(.refreshEnded(generation: 2))
        observer.observe(.refreshEnded(generation: nil))
        #expect(
            lines.withLock { $0 } == [
                "refresh of generation 1 begins", "refresh ended: generation 2", "refresh failed",
            ]
        )
    }

    @Test("a request is a command of curl, whose secrets are shown on demand alone")
    func curl() throws {
        let request = HttpRequest(
            method: .post,
            url: try .reading("https://user:secret@api.example.com/a?key=secret"),
            header: ["Authorization": "secret", "X-Name": "it's"],
            body: .data(Data("secret 'quoted'".utf8))
        )
        #expect(
            request.curlCommand()
                == "curl --request POST --user-agent Nautilus --header 'Authorization: ‹redacted›' "
                + #"--header 'X-Name: it'\''s' --header 'Content-Type: application/octet-stream' "#
                + #"--data-raw '‹15 bytes›' 'https://api.example.com/a?…'"#
        )
        #expect(
            request.curlCommand(showsSecrets: true)
                == "curl --request POST --user-agent Nautilus --header 'Authorization: secret' "
                + #"--header 'X-Name: it'\''s' --header 'Content-Type: application/octet-stream' "#
                + #"--data-raw 'secret '\''quoted'\''' 'https://api.example.com/a?key=secret'"#
        )
    }
}
