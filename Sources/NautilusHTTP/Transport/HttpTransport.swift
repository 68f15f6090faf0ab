import Foundation

/// Moves one request and one response: no redirects, no retries, no cookies, no cache, no policy.
///
/// ```swift
/// struct Offline: HttpTransport {
///     func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
///         throw TransportError.failed(.notConnectedToInternet, delivery: .notSent, reason: "offline")
///     }
/// }
/// ```
/// `TransportConformance` of `NautilusTesting` checks an implementation.
public protocol HttpTransport: Sendable {
    /// Sends `request` once and returns the response with its whole body, whatever its status.
    ///
    /// Cancelling the task ends the exchange at once, with `CancellationError`. The caller applies timeouts. If the
    /// body fails after the header has arrived, the transport calls ``TransportContext/noteAnswer(_:)`` before it
    /// throws, so that the status is not lost.
    ///
    /// - Throws: ``TransportError``; ``HttpRequest/Invalid`` for a method or a header that cannot be sent; the error of
    ///   a body stream; `CancellationError`.
    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data>

    /// Sends `request` once and returns the response as soon as its header has arrived. The caller then reads the body
    /// as it arrives.
    ///
    /// Until this returns, cancelling the task ends the exchange at once, with `CancellationError`. Afterwards, the
    /// exchange ends when the task that reads the body is cancelled, or the body is released. Default: calls
    /// ``send(_:context:)``, and makes the whole body one chunk.
    ///
    /// - Throws: The errors of ``send(_:context:)``. If the body fails while it arrives, its reader gets the error.
    func stream(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<HttpBodyStream>
}

extension HttpTransport {
    /// Sends `request`, and makes its whole body one chunk.
    ///
    /// - Throws: The errors of ``send(_:context:)``.
    public func stream(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<HttpBodyStream> {
        let response = try await send(request, context: context)
        return response.replacingBody(HttpBodyStream(response.body))
    }
}

extension HttpResponse<HttpBodyStream> {
    /// The response with its whole body. If the body fails, `context` notes the part that has arrived.
    ///
    /// - Parameter limit: The most bytes that the body may have.
    /// - Throws: The errors of ``HttpTransport/send(_:context:)``.
    package func collected(limit: Int, _ context: TransportContext) async throws -> HttpResponse<Data> {
        var bytes = Data()
        do {
            for try await chunk in body {
                guard bytes.count + chunk.count <= limit else {
                    bytes.append(chunk.prefix(limit - bytes.count))
                    throw TransportError.responseTooLarge(limit: limit)
                }
                bytes.append(chunk)
            }
            return replacingBody(bytes)
        } catch {
            context.noteAnswer(replacingBody(bytes))
            throw error
        }
    }
}

extension HttpRequest {
    /// Refuses a request that must not be given to a transport.
    ///
    /// - Throws: ``HttpRequest/Invalid`` for a request that must not be sent, and ``TransportError`` for a URL that is
    ///   not HTTP. Nothing was sent.
    package func validateForTransport() throws {
        // Foundation on Linux sends line breaks as they are, and reports a misleading error for a GET with a body.
        try validate()
        guard let scheme = url.scheme?.lowercased(), scheme == "https" || scheme == "http" else {
            throw TransportError.failed(
                .unsupportedURL,
                delivery: .notSent,
                reason: "The URL's scheme is neither https nor http."
            )
        }
    }
}

/// A transport that ends its exchange when `TransportContext.interruption` says so. Then an attempt needs no extra task
/// for its timeout. An interrupted exchange ends with `CancellationError`.
///
/// Only ``HttpTransport/send(_:context:)`` is interrupted, and only if the request's body is not a stream, since the
/// transport cannot end the wait for a stream's next chunk.
package protocol InterruptibleTransport: HttpTransport {}
