import Foundation
import Nautilus

extension TransportConformance {
    /// Checks that a streamed body, in either direction, is the same as one that comes all at once.
    var streamChecks: [Check] {
        [
            Check("a streamed response brings its status, its header, its length and every byte") {
                let count = 300_001
                let response = try await stream("/large/\(count)")
                try expect(response.status, is: 200, "the status of a streamed response")
                try expect(response.header[.contentLength], is: "\(count)", "its Content-Length")
                let length = response.body.length ?? Int64(count)
                try expect(length, is: Int64(count), "its length, if it is known")
                let body = try await response.body.collected(limit: .max)
                try expect(body == Self.largeBody(count), is: true, "every byte of /large/\(count), streamed")
            },
            Check("a stream is sent whole and in order") {
                let parts = (0..<100).map { Data(repeating: UInt8($0), count: 1 + 97 * $0) }
                let response = try await send(HttpBodyStream(from: { Parts(parts) }))
                try expect(response.body == Data(parts.joined()), is: true, "every byte of a streamed request")
            },
            Check("a stream that fails ends the exchange with its own error") {
                let body = HttpBodyStream(from: { Parts([Data("abc".utf8)], error: Broken()) })
                do {
                    let response = try await send(body)
                    throw Failure(description: "Expected a broken stream to throw, got \(response.status).")
                } catch is Broken {
                    return
                }
            },
            Check("a one-shot stream that has been read is refused, not sent") {
                let body = HttpBodyStream(once: Parts([Data("abc".utf8)]))
                try expect(try await send(body).body, is: Data("abc".utf8), "the first time")
                let error = try await expectTransportError("a stream that has been read") { try await send(body) }
                try expect(error.delivery, is: .notSent, "the delivery of a stream that has been read")
            },
        ] + (streamsResponses ? openEndChecks : []) + interruptionChecks
    }

    /// Checks of a body that is still arriving.
    private var openEndChecks: [Check] {
        [
            Check("a streamed response is there before its body has ended, and so is what has come of it") {
                let response = try await stream("/stalled")
                try expect(response.status, is: 200, "the status of /stalled")
                var chunks = response.body.makeAsyncIterator()
                try expect(try await digits(of: &chunks), is: "0123456789", "what has come of /stalled")
            },
            Check("cancelling the reader of a streamed body ends it") {
                let (begun, begin) = AsyncStream.makeStream(of: Void.self)
                let task = Task {
                    let response = try await stream("/stalled")
                    begin.finish()
                    for try await _ in response.body {}
                    return response.replacingBody(Data())
                }
                for await _ in begun {}
                task.cancel()
                try await expectCancellation(of: task, "a cancelled reader")
            },
            Check("a streamed body that ends early is a transport error behind what has come, maybe executed") {
                let response = try await stream("/truncated")
                var chunks = response.body.makeAsyncIterator()
                try expect(try await digits(of: &chunks), is: "0123456789", "what has come of /truncated")
                let error = try await expectTransportError("the end of /truncated") { try await chunks.next() }
                try expect(error.delivery, is: .maybeExecuted, "the delivery of a streamed body that ends early")
            },
        ]
    }

    /// Checks of interruption, the other way to end an exchange, for a transport that supports it.
    private var interruptionChecks: [Check] {
        guard makeTransport() is any InterruptibleTransport else { return [] }
        return [
            Check("an interruption ends an exchange that would never end, and not the next one") {
                let transport = makeTransport()
                let interruption = Interruption()
                let (begun, begin) = AsyncStream.makeStream(of: Void.self)
                let task = Task {
                    begin.finish()
                    return try await transport.send(try request("/hang"), context: context(interruption))
                }
                for await _ in begun {}
                interruption.occur()
                try await expectCancellation(of: task, "an interrupted exchange")
                try expect(try await send("/status/200", through: transport).status, is: 200, "the next status")
            }
        ]
    }

    private func stream(_ path: String) async throws -> HttpResponse<HttpBodyStream> {
        try await makeTransport().stream(try request(path), context: context())
    }

    /// Sends a stream to `/echo`, each time on a new transport.
    private func send(_ body: HttpBodyStream) async throws -> HttpResponse<Data> {
        var request = try request("/echo", method: .post)
        request.body = .stream(body)
        return try await makeTransport().send(request, context: context())
    }

    /// The first ten bytes of a body as text; fewer when the body ends sooner.
    private func digits(of chunks: inout HttpBodyStream.AsyncIterator) async throws -> String {
        var text = ""
        while text.utf8.count < 10, let chunk = try await chunks.next() {
            text += String(decoding: chunk, as: UTF8.self)
        }
        return text
    }
}

/// The error of a stream that fails.
private struct Broken: Error {}

/// The parts of a body, optionally followed by an error.
private struct Parts: AsyncSequence, Sendable {
    typealias Element = Data
    let parts: [Data]
    let error: (any Error)?

    init(_ parts: [Data], error: (any Error)? = nil) {
        (self.parts, self.error) = (parts, error)
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: parts[...], error: error) }

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: ArraySlice<Data>
        let error: (any Error)?

        mutating func next() async throws -> Data? {
            if let part = rest.popFirst() { return part }
            if let error { throw error }
            return nil
        }
    }
}
