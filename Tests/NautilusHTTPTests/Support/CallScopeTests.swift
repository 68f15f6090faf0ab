import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("The call that a task works for")
struct CallScopeTests {
    @Test("a task that was begun within a call works for it until its end, and for none after that")
    func outlived() async throws {
        let (gate, open) = AsyncStream<Void>.makeStream()
        let left = Locked<Task<(before: UInt64?, after: UInt64?), Never>?>(nil)
        let leaving = ClosureInterceptor { request, context, next in
            let (begun, note) = AsyncStream<Void>.makeStream()
            let task = Task { () -> (before: UInt64?, after: UInt64?) in
                let before = CallScope.current?.id
                note.finish()
                for await _ in gate {}
                return (before, CallScope.current?.id)
            }
            left.withLock { $0 = task }
            for await _ in begun {}
            return try await next(request)
        }
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [leaving],
            transport: ScriptedTransport(.reply(text: "ok"))
        )
        let call = try await Ping.get.response(with: service).trace.call
        open.finish()
        let seen = try #require(await left.withLock { $0 }?.value)
        #expect(seen.before == call.id)
        #expect(seen.after == nil)
    }
}
