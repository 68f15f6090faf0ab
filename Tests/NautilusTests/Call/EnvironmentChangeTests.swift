import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("The origin of a call")
struct EnvironmentChangeTests {
    /// A service whose base URL follows a switch, as an app's debug menu has one.
    private struct SwitchingService: HttpService {
        let environment: Locked<String>
        let transport: any HttpTransport
        let clock: any Clock<Duration>
        var retrierFactory: any RetrierFactory

        var apiUrl: any UrlConvertible { environment.withLock { $0 } }
    }

    /// Sends a call, which is answered by `replies`, and flips the switch with the first of them.
    private func outcome(
        to other: String,
        _ script: ScriptedTransport
    ) async throws -> (result: CallResult, urls: [String]) {
        try await simulate { simulation in
            let environment = Locked("staging.example.com")
            let service = SwitchingService(
                environment: environment,
                transport: Flipping(base: script) { environment.withLock { $0 = other } },
                clock: simulation.clock,
                retrierFactory: BackoffRetrier.factory(.atOnce)
            )
            let result = await Ping.get.result(with: service)
            return (result, script.attempts.map { $0.request.url.absoluteString })
        }
    }

    @Test("a switch between two attempts ends it, and nothing is sent to the other one")
    func betweenAttempts() async throws {
        let (result, urls) = try await outcome(
            to: "production.example.com",
            ScriptedTransport(.status(503), .reply(text: "no"))
        )
        guard case .failure(let error) = result, case .environmentChanged(let change) = error.kind else {
            Issue.record("\(result)")
            return
        }
        #expect("\(change.from) \(change.to)" == "https://staging.example.com https://production.example.com")
        #expect(error.stage == .build)
        #expect(urls.count == 1)
        #expect(error.trace.attempts.count == 2)
    }

    @Test("a flip between its URL and its retrier is noticed, though the service is back when the request is built")
    func flippedBack() async throws {
        struct FlippedBack: HttpService, ServiceHook {
            let environment = Locked("staging.example.com")
            let script = ScriptedTransport(.status(204))

            var apiUrl: any UrlConvertible { environment.withLock { $0 } }
            var transport: any HttpTransport { script }
            var hook: any ServiceHook { self }
            var retrierFactory: any RetrierFactory {
                environment.withLock { $0 = "example.com" }
                return RefreshCoordinator(credential: "production") { $0 }.authorization {
                    $1.header[.authorization] = $0
                }
            }
            func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
                environment.withLock { $0 = "staging.example.com" }
                return nil
            }
        }
        let service = FlippedBack()
        let error = await #expect(throws: HttpError.self) { try await Ping.get.schedule(with: service) }
        if case .environmentChanged? = error?.kind {} else { Issue.record("\(String(describing: error))") }
        #expect(service.script.attempts.isEmpty)
    }

    @Test("a switch to another path of the same host is one, too")
    func otherPath() async throws {
        let (result, urls) = try await outcome(
            to: "https://staging.example.com:443/v2",
            ScriptedTransport(.status(503), .reply(text: "no"))
        )
        guard case .failure(let error) = result, case .environmentChanged = error.kind else {
            Issue.record("\(result)")
            return
        }
        #expect(error.kind.description == "the service has moved to another environment at https://staging.example.com")
        #expect(urls.count == 1)
    }

    @Test("a base URL that is written differently, or changes during the last send, ends no call")
    func unnoticed() async throws {
        let (same, urls) = try await outcome(
            to: "https://staging.example.com:443/?signature=2",
            ScriptedTransport(.status(503), .reply(text: "ok"))
        )
        #expect(try same.get() == "ok")
        #expect(urls.last == "https://staging.example.com/things")
        let underWay = try await outcome(to: "production.example.com", ScriptedTransport(.reply(text: "ok")))
        #expect(try underWay.result.get() == "ok")
    }

    @Test("a request with a URL of its own may be signed anew on the same host, and goes to no other one")
    func ownUrl() async throws {
        for (other, count) in [("files.example.com/b", 2), ("mirror.example.com/a", 1)] {
            let url = Locked("files.example.com/a")
            let script = ScriptedTransport(.status(503), .reply(text: "ok"))
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: BackoffRetrier.factory(.atOnce),
                transport: Flipping(base: script) { url.withLock { $0 = other } },
                clock: ManualClock()
            )
            _ = try? await Signed(place: url).schedule(with: service)
            #expect(script.attempts.count == count)
        }
    }
}

/// A request whose URL is signed for each attempt.
private struct Signed: Request {
    typealias Result = String

    let place: Locked<String>
    var route: HttpRoute { [] }
    var url: (any UrlConvertible)? { place.withLock { $0 } }
}

/// Does something while a request is under way.
private struct Flipping: HttpTransport {
    let base: any HttpTransport
    let flip: @Sendable () -> Void

    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        flip()
        return try await base.send(request, context: context)
    }
}
