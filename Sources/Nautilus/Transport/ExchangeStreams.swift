/// The parts that an exchange needs to stream its bodies.
struct ExchangeStreams: Sendable {
    /// Where the response's body goes.
    let download: DownloadPipe
    /// The file that Foundation sends, where it is ours: it is kept as long as the exchange; nil when there is none.
    let spool: SpoolFile?
    /// Called with how many bytes Foundation has sent of a body that it sends by itself; nil when that is not observed.
    let onSent: (@Sendable (Int64) -> Void)?
}
