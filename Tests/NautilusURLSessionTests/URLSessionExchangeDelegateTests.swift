import Foundation
import TestSupport
import Testing

@testable import NautilusHTTP
@testable import NautilusURLSession

@Suite("The delegate's table of exchanges", .endsInTime)
struct URLSessionExchangeDelegateTests {
    @Test("no exchange is left behind, failed or cancelled, before or after it began")
    func leavesNothing() async throws {
        let transport = URLSessionTransport()
        // No server listens at port 1.
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let context = TransportContext()
        for number in 0..<64 {
            let sending = Task { try await transport.send(HttpRequest(url: url), context: context) }
            for _ in 0..<(number % 8) { await Task.yield() }
            if number.isMultiple(of: 2) { sending.cancel() }
            _ = await sending.result
        }
        #expect(await transport.exchanges.count == 0)
    }

    private func exchange(responseLimit: Int) throws -> URLSessionExchange {
        let request = HttpRequest(url: try #require(URL(string: "http://127.0.0.1")))
        let context = TransportContext()
        return URLSessionExchange(of: request, context: context, responseLimit: responseLimit)
    }

    @Test("an answer is given once: the first one")
    func answersOnce() async throws {
        let exchange = try exchange(responseLimit: 0)
        exchange.resolve(.failure(TransportError(.timedOut)))
        exchange.resolve(.failure(CancellationError()))
        #expect(exchange.isAnswered)
        await #expect(throws: CancellationError.self) {
            _ = try await withCheckedThrowingContinuation { (caller: URLSessionExchange.Continuation) in
                _ = exchange.awaitAnswer(caller)
            }
        }
    }

    @Test("a body is kept up to the limit, and refused with the byte behind it")
    func limit() async throws {
        let exchange = try exchange(responseLimit: 4)
        #expect(exchange.receive(Data("abc".utf8)))
        #expect(exchange.receive(Data("d".utf8)))
        #expect(!exchange.receive(Data("e".utf8)))
        exchange.resolve(.failure(CancellationError()))
    }
}
