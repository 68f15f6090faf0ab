import Foundation

/// Moves one request and one response: no redirects, no retries, no cookies, no cache, no policy.
///
/// ```swift
/// struct Offline: HttpTransport {
///     func send(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<Data> {
///         throw TransportError.failed(.notConnectedToInternet, delivery: .notSent, reason: "offline")
///     }
/// }
/// ```
/// `TransportConformance` of the test kit checks an implementation.
public protocol HttpTransport: ServicePart {
    /// Sends `request` once and returns the response with its whole body, whatever its status.
    ///
    /// Cancelling the task ends the exchange at once, with `CancellationError`. Timeouts are the caller's.
    ///
    /// - Throws: ``TransportError``; ``InvalidRequest`` for a method or a header that cannot be sent; the error of a
    ///   body stream; `CancellationError`.
    func send(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<Data>

    /// Sends `request` once and returns the response as soon as its header has come; the body follows as it is read.
    ///
    /// Cancelling the task ends the exchange at once, with `CancellationError`, until this returns; afterwards, when
    /// the task that reads the body is cancelled, or the body is released. Default: ``send(_:context:)``, and the whole
    /// body as one chunk.
    ///
    /// - Throws: The errors of ``send(_:context:)``. Failures while the body comes reach its reader.
    func stream(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<HttpBodyStream>
}

extension HttpTransport {
    /// Sends `request`, and makes its whole body one chunk.
    ///
    /// - Throws: The errors of ``send(_:context:)``.
    public func stream(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<HttpBodyStream> {
        let response = try await send(request, context: context)
        return response.replacingBody(HttpBodyStream(response.body))
    }
}

/// A transport that heeds ``AttemptContext/interruption``, so that a timeout needs no task of its own.
///
/// ```swift
/// final class Client: InterruptibleTransport {
///     func send(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<Data> {
///         let exchange = URLSessionExchange(request)
///         context.interruption?.onOccurrence { exchange.cancel() }
///         defer { context.interruption?.ignore() }
///         return try await withTaskCancellationHandler {
///             try await exchange.response
///         } onCancel: {
///             exchange.cancel()
///         }
///     }
/// }
/// ```
/// Its exchanges end with `CancellationError` when they are interrupted, as at a cancellation. Only
/// ``HttpTransport/send(_:context:)`` is ever interrupted, and that only with a body that is no stream: the wait for a
/// stream's next chunk is not the transport's.
///
/// It is worth a task for each attempt. A transport that can only be cancelled by its task is a plain
/// ``HttpTransport``.
public protocol InterruptibleTransport: HttpTransport {}
