import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("Secrets and call contexts")
struct ContextSecretsTests {
    @Test("a context that an interceptor dumps leads to no token, no query and no body")
    func context() async throws {
        let dumped = Locked("")
        let dumping = ClosureInterceptor { request, context, next in
            let response = try await next(request)
            var text = ""
            dump(context, to: &text)
            text += "\n" + String(reflecting: context)
            dumped.withLock { $0 = text }
            return response
        }
        let coordinator = RefreshCoordinator(credential: Token(number: 4711)) { _ in Token(number: 2) }
        _ = try await outcome(
            of: Ping.get,
            retrier: AuthorizationRetrier.factory(coordinator),
            interceptors: [dumping],
            ScriptedTransport(.reply(text: "ok"))
        )
        let text = dumped.withLock { $0 }
        #expect(!text.contains("4711"))
    }

    @Test("a context shows neither idempotency keys nor the bodies sent with them")
    func keys() async throws {
        let dumped = Locked("")
        let dumping = ClosureInterceptor { request, context, next in
            var helper = HttpRequest(
                method: .post,
                url: .literal("https://api.example.com/token?secret=4711"),
                body: .data(Data("4712".utf8))
            )
            helper.header[.idempotencyKey] = "key-4713"
            _ = try await context.send(helper)
            var text = ""
            dump(context, to: &text)
            dumped.withLock { $0 = text }
            return try await next(request)
        }
        struct Login: Request {
            typealias Result = String
            var route: HttpRoute { [] }
            var method: HttpMethod { .post }
            let password = "4714"
            var body: HttpBody { .data(Data(password.utf8)) }
        }
        _ = try await outcome(
            of: Login(),
            interceptors: [dumping],
            ScriptedTransport(.reply(text: "ok"), afterLast: .repeat)
        )
        let text = dumped.withLock { $0 }
        for secret in ["4711", "4712", "4713", "4714"] {
            let leaks = text.contains(secret)
            #expect(!leaks, "\(secret)")
        }
    }
}
