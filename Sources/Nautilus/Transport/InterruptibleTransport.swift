/// A transport that heeds ``AttemptContext/interruption``, so that a timeout needs no task of its own.
///
/// Its exchanges end with `CancellationError` when they are interrupted, as at a cancellation. Bodies that are streams
/// are excepted: what they wait for is not the transport's.
protocol InterruptibleTransport: HttpTransport {}
