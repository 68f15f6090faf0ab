import AsyncHTTPClient
import Foundation
import NIOCore
import NautilusHTTP

/// A transport on async-http-client, for servers and for what `URLSession` on Linux cannot do.
///
/// ```swift
/// struct Staging {}
/// extension Staging: HttpService {
///     var apiUrl: any UrlConvertible { "staging.example.com/v1" }
///     var transport: any HttpTransport { AsyncHTTPClientTransport.shared }
/// }
/// ```
/// Like `URLSessionTransport` it follows no redirects, keeps no cookies, caches nothing, retries nothing, times nothing
/// out, and undoes gzip and deflate, which it asks for. Where it differs:
/// - Header fields go out in their order, several values of one name as several lines.
/// - A failure is `notSent` exactly when not a byte of the request was written, whatever its kind.
/// - A body stream whose length is known is sent with it. Streams share the connections of all other requests.
/// - Of a coded body, one gzip or deflate is undone; with several, and with bytes behind the end, it is an error. Of
///   the body of an error that is not coded as its header says, nothing is kept but what was decoded.
/// - When an answer from 300 on comes before a body stream has been sent, the rest of the stream is not sent. The
///   answer's own body is read if it has a `Content-Length`, and is empty if not.
/// - Control characters in header values are refused (RFC 9110 §5.5), with `HttpRequest.Invalid`.
/// - Proxies come from ``Configuration/adjust`` alone, not from the environment.
///
/// Share one: connections are kept per instance. An instance closes its connections once it is released and its last
/// exchange has ended.
public final class AsyncHTTPClientTransport: HttpTransport {
    /// An instance for the whole process, with the default ``Configuration``.
    public static let shared = AsyncHTTPClientTransport()

    let configuration: Configuration
    let connections: ClientConnections

    /// Creates a transport with connections of its own.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        self.connections = ClientConnections(configuration)
    }

    /// Sends `request` once; see `HttpTransport.send(_:context:)`.
    ///
    /// - Throws: `TransportError`; `HttpRequest.Invalid` for a method or a header that cannot be sent; the error of a
    ///   body stream; `CancellationError`, at once when the task is cancelled.
    public func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        if case .stream = request.body { return try await collect(stream(request, context: context), context) }
        let exchange = ClientExchange(
            method: request.method,
            context: context,
            responseLimit: configuration.responseLimit
        )
        let answer = try await answer(to: request, exchange, context)
        return HttpResponse(answer, body: Data(buffer: answer.body, byteTransferStrategy: .copy), url: request.url)
    }

    /// Sends `request` once and returns its response as soon as the header has come; see
    /// `HttpTransport.stream(_:context:)`.
    ///
    /// - Throws: The same errors as ``send(_:context:)``.
    public func stream(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<HttpBodyStream> {
        let chunks = ResponseChunks()
        let exchange = ClientExchange(method: request.method, context: context, responseLimit: .max, chunks: chunks)
        let answer = try await answer(to: request, exchange, context)
        let reader = ResponseReader(chunks, of: exchange)
        let body = HttpBodyStream(length: answer.bodyLength(of: request.method)) { try await reader.next() }
        return HttpResponse(answer, body: body, url: request.url)
    }

    private func answer(
        to request: HttpRequest,
        _ exchange: ClientExchange,
        _ context: TransportContext
    ) async throws -> ClientExchange.Answer {
        let departure = try Departure(
            of: exchange,
            HTTPClient.Request(request, for: exchange, configuration),
            for: request,
            to: request.lineOrigin,
            over: connections,
            context: context
        )
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { exchange.begin(departure, $0) }
        } onCancel: {
            exchange.cancel()
        }
    }

    /// The whole response of a request whose body was streamed. If the body fails, its beginning is noted.
    private func collect(
        _ response: HttpResponse<HttpBodyStream>,
        _ context: TransportContext
    ) async throws -> HttpResponse<Data> {
        var bytes = Data()
        do {
            for try await chunk in response.body {
                guard bytes.count + chunk.count <= configuration.responseLimit else {
                    throw TransportError.responseTooLarge(limit: configuration.responseLimit)
                }
                bytes.append(chunk)
            }
            return response.replacingBody(bytes)
        } catch {
            context.noteAnswer(response.replacingBody(bytes))
            throw error
        }
    }
}

extension HttpRequest {
    /// Where it goes.
    fileprivate var lineOrigin: HttpOrigin {
        get throws {
            guard let origin else { throw TransportError(.badURL) }
            return origin
        }
    }
}
