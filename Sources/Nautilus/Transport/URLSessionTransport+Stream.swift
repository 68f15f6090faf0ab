import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLSessionTransport {
    /// Sends `request` once and returns its response as soon as the header has come; see
    /// ``HttpTransport/stream(_:context:)``.
    ///
    /// - Throws: The errors of ``send(_:context:)``.
    public func stream(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<HttpBodyStream> {
        try checkPins()
        // Before a stream that comes once is spent on a request that cannot go out.
        try request.validateForSession()
        let body = try await OutgoingBody(request.body, spoolLimit: configuration.spoolLimit)
        let urlRequest = try URLRequest(request, body: body.data)
        let outgoing = OutgoingRequest(request: urlRequest, priority: request.priority, file: body.file)
        let download = DownloadPipe(spoolLimit: configuration.spoolLimit)
        let streams = ExchangeStreams(download: download, spool: body.spool, onSent: body.onSent)
        let exchange = SessionExchange(to: request.origin, context: context, responseLimit: .max, streams: streams)
        let session = streamedSession
        let end: @Sendable () -> Void = { [exchanges = session.exchanges] in
            download.abandon()
            exchange.resolve(.failure(CancellationError())) {
                exchanges.queue.async { exchanges.abandon(exchange) }
            }
        }
        let answer = try await answer(to: outgoing, exchange, in: session, onCancel: end)
        let reader = StreamedBody(download, end: end)
        let length = answer.response.streamedLength(to: request.method.rawValue)
        return HttpResponse(answer, to: request).replacingBody(
            HttpBodyStream(length: length) { try await reader.next() }
        )
    }

    /// The whole response of a request whose body was streamed.
    func collect(_ response: HttpResponse<HttpBodyStream>) async throws -> HttpResponse<Data> {
        do {
            return response.replacingBody(try await response.body.collected(limit: configuration.responseLimit))
        } catch HttpBodyStream.ReadError.tooLarge(let limit) {
            throw TransportError.responseTooLarge(limit: limit)
        }
    }
}
