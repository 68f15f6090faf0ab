import Foundation
import Testing

@testable import Nautilus

@Suite("A body on its way into a streamed exchange")
struct OutgoingBodyTests {
    private static let requests: [HttpRequest] = [
        ("http://a.com", HttpHeader([.init(name: "X-Id", value: "1\r\nX-Admin: 1")])),
        ("ftp://a.com", HttpHeader([])),
    ].compactMap { text, header in
        URL(string: text).map { HttpRequest(method: .put, url: $0, header: header) }
    }

    @Test("a request that cannot go out does not cost a stream that comes once", arguments: requests)
    func refused(request: HttpRequest) async throws {
        let stream = HttpBodyStream { nil }
        var request = request
        request.body = .stream(stream)
        let context = AttemptContext(serviceOrigin: try #require(URL(string: "http://a.com").flatMap(HttpOrigin.init)))
        let transport = URLSessionTransport()
        await #expect(throws: (any Error).self) { try await transport.stream(request, context: context) }
        #expect(stream.isReplayable)
    }

    @Test("when there is no room for a body that is to be sent, nothing was sent; for one that came, that is unknown")
    func noRoom() async throws {
        let folder = try TemporaryFolder().url.appendingPathComponent("none")
        let sending = await #expect(throws: TransportError.self) {
            _ = try await SpoolFile(HttpBodyStream(Data([1])), in: folder)
        }
        guard case .failed(.cannotWriteToFile, .notSent, _)? = sending else {
            Issue.record("\(String(describing: sending))")
            return
        }
        let receiving = #expect(throws: TransportError.self) { _ = try SpoolFile(in: folder) }
        guard case .failed(.cannotWriteToFile, .maybeExecuted, _)? = receiving else {
            Issue.record("\(String(describing: receiving))")
            return
        }
    }

    @Test("a stream that comes once and has been read is refused, and nothing is sent")
    func spent() async throws {
        let stream = HttpBodyStream { nil }
        for try await _ in stream {}
        await #expect(throws: TransportError.self) { _ = try await SpoolFile(stream) }
        let failure = await #expect(throws: TransportError.self) { _ = try await OutgoingBody(.stream(stream)) }
        guard case .failed(_, .notSent, _)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }
}
