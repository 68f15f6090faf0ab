import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("A call whose service had no valid URL when it began")
struct InvalidBeginningTests {
    /// A service that follows a switch of its own.
    private struct Following: HttpService {
        let url = Locked("")
        let transport: any HttpTransport
        let hook: any ServiceHook

        var apiUrl: any UrlConvertible { url.withLock { $0 } }

        init(_ transport: ScriptedTransport) {
            self.transport = transport
            hook = Selecting { [url] in url.withLock { $0 = "production.test" } }
        }
    }

    private struct Selecting: ServiceHook {
        let select: @Sendable () -> Void
        func onSchedule<R: Request>(_ request: R) async throws -> HttpResponse<R.Result>? {
            select()
            return nil
        }
    }

    @Test("a call that began without a valid URL goes nowhere, though there is one by now")
    func goesNowhere() async throws {
        let transport = ScriptedTransport(.status(200), afterLast: .repeat)
        let service = Following(transport)
        let error = await #expect(throws: HttpError.self) { _ = try await Ping.get.schedule(with: service) }
        #expect(error?.kind == .invalidRequest(.baseUrl(reason: "it names no host")))
        #expect(transport.count == 0)
        _ = try await Ping.get.schedule(with: service)
        #expect(transport.count == 1)
    }
}
