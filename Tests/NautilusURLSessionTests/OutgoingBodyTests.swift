import Foundation
import TestSupport
import Testing

@testable import NautilusHTTP
@testable import NautilusURLSession

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
        let context = TransportContext()
        let transport = URLSessionTransport()
        await #expect(throws: (any Error).self) { try await transport.stream(request, context: context) }
        #expect(stream.isReplayable)
    }

    @Test("when there is no room for a body that is to be sent, nothing was sent; for one that came, that is unknown")
    func noRoom() async throws {
        let folder = try TemporaryFolder().url.appendingPathComponent("none")
        let sending = await #expect(throws: TransportError.self) {
            _ = try await SpoolFile(HttpBodyStream(Data([1])), limit: 9, in: folder)
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
        await #expect(throws: TransportError.self) { _ = try await SpoolFile(stream, limit: 9) }
        let failure = await #expect(throws: TransportError.self) {
            _ = try await OutgoingBody(.stream(stream), spoolLimit: 9)
        }
        guard case .failed(_, .notSent, _)? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("chunks that would take more of the disk than they may are not sent, and leave nothing", arguments: [4, 5])
    func tooLarge(limit: Int) async throws {
        let folder = try TemporaryFolder()
        let chunks = Locked([Data("abc".utf8), Data("de".utf8)])
        let stream = HttpBodyStream { chunks.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
        do {
            let spool = try await SpoolFile(stream, limit: limit, in: folder.url)
            #expect(limit == 5)
            #expect(try Data(contentsOf: #require(spool.url)) == Data("abcde".utf8))
        } catch TransportError.failed(.dataLengthExceedsMaximum, .notSent, _) {
            #expect(limit == 4)
        }
        #expect(try folder.names == [])
    }

    @Test("a file that is only read back has no name, so that a killed process leaves none")
    func unnamed() async throws {
        let folder = try TemporaryFolder()
        let spool = try SpoolFile(in: folder.url)
        #expect(try folder.names == [])
        #expect(spool.url == nil)
        try spool.append(Data("ab".utf8))
        #expect(try spool.read(9, from: 1) == Data("b".utf8))
    }
}
