/// A transport that heeds ``AttemptContext/interruption``, so that a timeout needs no task of its own.
///
/// ```swift
/// final class Client: InterruptibleTransport {
///     func send(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<Data> {
///         let exchange = SessionExchange(request)
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
