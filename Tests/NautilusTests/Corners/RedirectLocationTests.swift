import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("A redirect's Location")
struct RedirectLocationTests {
    @Test(
        "a redirect's Location is followed as it was written, whatever does not belong in a URL",
        arguments: [
            ("/a%20b?q=%2F", "https://api.example.com/a%20b?q=%2F"),
            ("/a%20ü?q=%2Fü", "https://api.example.com/a%20%C3%BC?q=%2F%C3%BC"),
            ("/a%20b|c?f[]=%20", "https://api.example.com/a%20b%7Cc?f%5B%5D=%20"),
            ("a b%20", "https://api.example.com/a%20b%20"),
            ("https://api.example.com/a%20ü", "https://api.example.com/a%20%C3%BC"),
            ("//api.example.com/a%20ü", "https://api.example.com/a%20%C3%BC"),
            ("https://[::1]:8080/a%20ü", "https://[::1]:8080/a%20%C3%BC"),
            ("/%2E%2E/x", "https://api.example.com/%2E%2E/x"),
        ]
    )
    func followed(location: String, url: String) async throws {
        let transport = ScriptedTransport(.status(302, header: ["Location": location]), .reply(text: "there"))
        let outcome = try await outcome(of: Ping.get, retrier: .never, transport)
        #expect(outcome.response?.body == "there")
        #expect(outcome.response?.url?.absoluteString == url)
    }
}

@Suite("A redirect of a request that was cancelled meanwhile")
struct CancelledRedirectTests {
    /// Redirects each request, in a task that is cancelled before the answer comes.
    private struct Uncancellable: HttpTransport {
        let count = Counter()

        func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
            _ = count.increment()
            withUnsafeCurrentTask { $0?.cancel() }
            return HttpResponse(status: 302, header: [.location: "/b"], body: Data())
        }
    }

    @Test("a redirect of a cancelled request is not followed, even if the transport ignores cancellation")
    func notFollowed() async throws {
        let transport = Uncancellable()
        let task = Task {
            await #expect(throws: HttpError.self) {
                try await AnyRequest(.get, ["a"]).schedule(with: AnyHttpService(apiUrl: "a.com", transport: transport))
            }
        }
        #expect(await task.value?.kind == .cancelled)
        #expect(transport.count.value == 1)
    }
}
