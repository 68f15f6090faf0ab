/// What an exchange needs to stream its bodies.
struct ExchangeStreams: Sendable {
    /// The session that carries this exchange and nothing else.
    let lane: StreamLane
    /// Where the response's body goes.
    let download: DownloadPipe
    /// Where the request's body comes from; nil when it has none, or one that is not streamed.
    let upload: UploadPipe?
    /// What is told how many bytes Foundation has sent of a body that it sends by itself; nil when nobody asks.
    let onSent: (@Sendable (Int64) -> Void)?
}
