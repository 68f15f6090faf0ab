import Foundation
import Nautilus

/// One answer of a ``ScriptedTransport``.
///
/// ```swift
/// ScriptedTransport(.status(503), .fail(.networkConnectionLost), .json(note))
/// ```
public struct ScriptedReply: Sendable {
    /// A model of a server, whose answer depends on the request. The request's body has been read into
    /// `HttpBody.Payload.data`.
    public typealias Responder =
        @Sendable (_ request: HttpRequest, _ context: TransportContext) async throws -> ScriptedReply

    indirect enum Step: Sendable {
        case respond(status: Int, header: HttpHeader, body: ScriptedBody)
        case json(status: Int, header: HttpHeader, encode: @Sendable (JsonCoders) throws -> Data)
        case fail(any Error)
        case delay(Duration, then: Step)
        case hang
        case ask(Responder)
    }

    let step: Step

    /// A response with bytes as its body.
    ///
    /// - Parameters:
    ///   - status: The status code. Default: 200, as most answers of a script have.
    ///   - header: The header. Default: none, so that nothing is added that the test did not write.
    ///   - body: The body. Default: none.
    public static func reply(status: Int = 200, header: HttpHeader = [:], body: Data = Data()) -> ScriptedReply {
        ScriptedReply(step: .respond(status: status, header: header, body: ScriptedBody(chunks: [body])))
    }

    /// A response whose body comes in chunks, for a call that streams it.
    ///
    /// - Parameters:
    ///   - status: The status code. Default: 200, as most answers of a script have.
    ///   - header: The header. Default: none.
    ///   - chunks: The chunks that the reader gets, one after the other.
    ///   - pause: How long the reader waits for each chunk, on the transport's clock. Default: not at all.
    ///   - error: The error that breaks the body off after the last chunk. Default: nil, the body is whole.
    public static func chunks(
        status: Int = 200,
        header: HttpHeader = [:],
        _ chunks: [Data],
        pause: Duration = .zero,
        endingWith error: (any Error)? = nil
    ) -> ScriptedReply {
        let body = ScriptedBody(chunks: chunks, pause: pause, error: error)
        return ScriptedReply(step: .respond(status: status, header: header, body: body))
    }

    /// A response with a text as its body, in UTF-8.
    ///
    /// - Parameters:
    ///   - status: The status code. Default: 200, as most answers of a script have.
    ///   - header: The header. Default: none, not even a `Content-Type`.
    ///   - text: The body.
    public static func reply(status: Int = 200, header: HttpHeader = [:], text: String) -> ScriptedReply {
        .reply(status: status, header: header, body: Data(text.utf8))
    }

    /// A response given by its status, most often without a body.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - header: The header. Default: none.
    ///   - body: The body. Default: none.
    public static func status(_ status: Int, header: HttpHeader = [:], body: Data = Data()) -> ScriptedReply {
        .reply(status: status, header: header, body: body)
    }

    /// A response with a value as JSON, with sorted keys. If the value cannot be encoded, the attempt fails with the
    /// encoder's error.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - status: The status code. Default: 200, as most answers of a script have.
    ///   - header: Fields in addition to `Content-Type`, which is `application/json` unless this header has one.
    ///     Default: none.
    ///   - coders: The form of dates and names. Default: nil, that of the service that asks.
    public static func json(
        _ value: some Encodable & Sendable,
        status: Int = 200,
        header: HttpHeader = [:],
        coders: JsonCoders? = nil
    ) -> ScriptedReply {
        let header = HttpHeader([.init(name: .contentType, value: "application/json")]).merging(header)
        let step = Step.json(status: status, header: header) { try (coders ?? $0).encoder().encode(value) }
        return ScriptedReply(step: step)
    }

    /// No response, because the network fails.
    ///
    /// - Parameters:
    ///   - code: The failure's code.
    ///   - delivery: What the server may have done. Default: nil, what the code means in production: a refused
    ///     connection was `notSent`, a lost one `maybeExecuted`.
    public static func fail(_ code: URLError.Code, delivery: Delivery? = nil) -> ScriptedReply {
        .fail(TransportError.failed(code, delivery: delivery ?? code.delivery, reason: "scripted failure"))
    }

    /// No response, because the transport throws `error`. A `CancellationError` counts as cancelled.
    public static func fail(_ error: any Error) -> ScriptedReply {
        ScriptedReply(step: .fail(error))
    }

    /// Another answer, after a sleep on the transport's clock.
    public static func delay(_ duration: Duration, then reply: ScriptedReply) -> ScriptedReply {
        ScriptedReply(step: .delay(duration, then: reply.step))
    }

    /// No answer until the task is cancelled, like a silent server.
    public static let hang = ScriptedReply(step: .hang)

    /// The answer of `responder`, to this attempt and to all that follow; put it last.
    public static func respond(_ responder: @escaping Responder) -> ScriptedReply {
        ScriptedReply(step: .ask(responder))
    }

    /// Whether the same reply serves all further attempts.
    var isEndless: Bool {
        var step = step
        while case .delay(_, let then) = step { step = then }
        if case .ask = step { return true }
        return false
    }
}

/// The body of a scripted response.
struct ScriptedBody: Sendable {
    let chunks: [Data]
    var pause = Duration.zero
    var error: (any Error)?

    /// The body, as a transport gives it to its reader.
    func stream(on clock: any Clock<Duration>) -> HttpBodyStream {
        let position = Locked(0)
        let length = error == nil ? Int64(chunks.reduce(0) { $0 + $1.count }) : nil
        return HttpBodyStream(length: length) {
            try Task.checkCancellation()
            if pause > .zero { try await clock.sleep(for: pause) }
            let index = position.withLock { position in
                defer { position += 1 }
                return position
            }
            if index < chunks.count { return chunks[index] }
            if let error { throw error }
            return nil
        }
    }
}
