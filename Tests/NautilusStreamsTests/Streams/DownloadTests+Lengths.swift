import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

extension DownloadTests {
    @Test("fewer bytes than announced are continued; more are an error, and nothing is kept of them")
    func lengths() async throws {
        let header: HttpHeader = ["ETag": "\"1\"", "Content-Range": "bytes 300-999/1000"]
        let short = ScriptedReply.chunks(status: 206, header: header, [Self.bytes[300..<600]])
        let long = ScriptedReply.chunks(status: 206, header: header, [Self.bytes[300...], Data(count: 1)])
        let target = try target()

        let transport = ScriptedTransport(Self.part(300), short, Self.rest(from: 600))
        try await Ping.get.download(to: target, with: service(transport))
        #expect(try Data(contentsOf: target) == Self.bytes)

        let tooMuch = ScriptedTransport(Self.part(300), long)
        let error = await #expect(throws: HttpError.self) {
            try await Ping.get.download(to: target, with: service(tooMuch, retries: 1))
        }
        #expect(error?.underlying as? DownloadError == .tooLong(expected: 1000))
    }

    @Test("a rest that goes beyond the part that it announces is an error, and nothing is kept of it")
    func beyondRange() async throws {
        let header: HttpHeader = ["ETag": "\"1\"", "Content-Range": "bytes 300-399/1000"]
        let lying = ScriptedReply.chunks(status: 206, header: header, [Self.bytes[300..<350], Self.bytes[350...]])
        let target = try target()
        let transport = ScriptedTransport(Self.part(300, ["ETag": "\"1\"", "Content-Length": "1000"]), lying)
        let error = await #expect(throws: HttpError.self) {
            try await Ping.get.download(to: target, with: service(transport, retries: 1))
        }
        #expect(error?.underlying as? DownloadError == .tooLong(expected: 400))
        #expect(!FileManager.default.fileExists(atPath: target.path))
        // One that keeps to it is a part, after which the rest is asked for.
        let honest = ScriptedReply.chunks(status: 206, header: header, [Self.bytes[300..<400]])
        let parts = ScriptedTransport(Self.part(300), honest, Self.rest(from: 400))
        try await Ping.get.download(to: target, with: service(parts))
        #expect(try Data(contentsOf: target) == Self.bytes)
        #expect(parts.attempts.map { $0.header["Range"] } == [nil, "bytes=300-", "bytes=400-"])
    }

    @Test(
        "a length that is none is not believed",
        arguments: ["-5", "+1000", "1e3", "1000, 1000", "99999999999999999999", ""]
    )
    func noLength(length: String) async throws {
        let target = try target()
        // As of a transport that tells no length of its own.
        let transport = LengthlessTransport(header: [.contentLength: length], bytes: Self.bytes)
        let service = AnyHttpService(apiUrl: "a.com", transport: transport)
        try await Ping.get.download(to: target, with: service)
        #expect(try Data(contentsOf: target) == Self.bytes)
    }

    @Test("a rest whose total nobody knows may not be all of it: the file is asked for once more as a whole")
    func unknownTotal() async throws {
        let header: HttpHeader = ["ETag": "\"1\"", "Content-Range": "bytes 300-399/*"]
        let transport = ScriptedTransport(
            Self.part(300),
            .chunks(status: 206, header: header, [Self.bytes[300..<400]]),
            .chunks([Self.bytes])
        )
        let target = try target()
        try await Ping.get.download(to: target, with: service(transport))
        #expect(try Data(contentsOf: target) == Self.bytes)
        #expect(transport.attempts.map { $0.header["Range"] } == [nil, "bytes=300-", nil])
    }

    @Test(
        "a file may have as many bytes as the caller takes; with one more it is not written, and not tried again",
        arguments: [1000, 999],
        [true, false]
    )
    func limit(limit: Int64, isAnnounced: Bool) async throws {
        let header: HttpHeader = isAnnounced ? [.contentLength: "1000"] : [:]
        let transport = LengthlessTransport(header: header, bytes: Self.bytes)
        let service = AnyHttpService(
            apiUrl: "a.com",
            retrierFactory: BackoffRetrier.factory(.atOnce),
            transport: transport
        )
        let (target, told) = (try target(), Counter())
        let download = Task {
            try await Ping.get.download(to: target, with: service, limit: limit) { _ in told.increment() }
        }
        guard limit < 1000 else {
            #expect(try await download.value.body == target)
            #expect(try Data(contentsOf: target) == Self.bytes)
            return
        }
        let error = await #expect(throws: HttpError.self) { try await download.value }
        #expect(error?.kind == .responseTooLarge(limit: 999))
        #expect(error?.underlying as? DownloadError == .tooLarge(limit: 999))
        #expect(error?.trace.attempts.count == 1)
        // Of one that is announced as too large nothing is read.
        #expect(told.value == (isAnnounced ? 0 : 1))
        #expect(try folder?.names == [])
    }
}

/// Sends bytes of which it does not know how many they are.
private struct LengthlessTransport: HttpTransport {
    let header: HttpHeader
    let bytes: Data

    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        HttpResponse(header: header, body: bytes)
    }

    func stream(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<HttpBodyStream> {
        let halves = Locked([bytes.prefix(bytes.count / 2), bytes.dropFirst(bytes.count / 2)])
        let body = HttpBodyStream { halves.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
        return HttpResponse(header: header, body: body)
    }
}
