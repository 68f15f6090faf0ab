import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOPosix
import NautilusHTTP

extension HTTPClient.Request {
    /// The client's form of `request`.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - exchange: The exchange, which is told when its body cannot be made.
    ///   - configuration: Whether to name the encodings that the client undoes, unless the request names some, and
    ///     where its body is made.
    /// - Throws: `HttpRequest.Invalid` for a request that must not go on the wire, and `TransportError` for a URL that
    ///   is not HTTP or a stream that has been read. Nothing was sent.
    init(
        _ request: HttpRequest,
        for exchange: ClientExchange,
        _ configuration: AsyncHTTPClientTransport.Configuration
    ) throws {
        try request.validate()
        guard let scheme = request.url.scheme?.lowercased(), scheme == "https" || scheme == "http" else {
            throw TransportError(.unsupportedURL)
        }
        var fields: [(String, String)] = []
        fields.reserveCapacity(request.header.fields.count + 1)
        var namesEncodings = false
        for field in request.header.fields {
            // The client refuses them as well, but names no name.
            guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw HttpRequest.Invalid.headerValue(name: field.name)
            }
            if field.name == .acceptEncoding { namesEncodings = true }
            fields.append((field.name.rawValue, field.value))
        }
        if configuration.decompresses, !namesEncodings { fields.append(("Accept-Encoding", "gzip, deflate")) }
        do {
            try self.init(
                url: request.url,
                method: HTTPMethod(rawValue: request.method.rawValue),
                headers: HTTPHeaders(fields),
                body: HTTPClient.Body(request.body, for: exchange, on: configuration.eventLoopGroup)
            )
        } catch let error as HTTPClientError {
            throw TransportError(of: error, isSent: false)
        }
    }
}

extension HTTPClient.Body {
    /// - Returns: Nil for no body.
    fileprivate init?(
        _ body: HttpBody.Payload,
        for exchange: ClientExchange,
        on eventLoopGroup: any EventLoopGroup
    ) throws {
        switch body {
        case .empty: return nil
        case .data(let data):
            if data.isEmpty { return nil }
            self = .byteBuffer(ByteBuffer(data: data))
        case .stream(let stream):
            guard stream.isReplayable else { throw TransportError.streamIsSpent(isSent: false) }
            self = .stream(contentLength: stream.length) { writer in
                let sent = eventLoopGroup.any().makePromise(of: Void.self)
                exchange.feed(by: sent.completeWithTask { try await writer.write(stream, for: exchange) })
                return sent.futureResult
            }
        }
    }
}

extension HTTPClient.Body.StreamWriter {
    /// Writes chunk by chunk, each as soon as the connection takes more.
    fileprivate func write(_ stream: HttpBodyStream, for exchange: ClientExchange) async throws {
        var chunks = stream.makeAsyncIterator()
        var left = stream.length
        while let chunk = try await next(of: &chunks, for: exchange) {
            // For the server, the request is complete with its last byte: its answer is then not early, whenever the
            // stream finds out that it has ended.
            left? -= Int64(chunk.count)
            if left == 0 { exchange.isFed() }
            // Fails when the exchange has ended, of which its caller hears elsewhere.
            try await write(.byteBuffer(ByteBuffer(data: chunk))).get()
        }
        exchange.isFed()
    }

    private func next(
        of chunks: inout HttpBodyStream.AsyncIterator,
        for exchange: ClientExchange
    ) async throws -> Data? {
        do {
            return try await chunks.next()
        } catch HttpBodyStream.ReadError.alreadyRead {
            // Somebody else has read it meanwhile, or a part of it, of which only its reading tells.
            let error = TransportError.streamIsSpent(isSent: exchange.isSent)
            exchange.fail(error)
            throw error
        } catch {
            // The exchange ended first, and took this along.
            if !Task.isCancelled { exchange.fail(error) }
            throw error
        }
    }
}

extension HttpHeader.Name {
    fileprivate static let acceptEncoding = HttpHeader.Name("Accept-Encoding")
}

extension TransportError {
    fileprivate static func streamIsSpent(isSent: Bool) -> TransportError {
        .failed(
            .requestBodyStreamExhausted,
            delivery: isSent ? .maybeExecuted : .notSent,
            reason: "The body's stream has been read; declare the body with a factory to send it again."
        )
    }
}
