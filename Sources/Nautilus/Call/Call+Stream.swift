import Foundation

extension Call {
    /// Begins to read a body that arrives after its response's header. If the request does not accept the status, reads
    /// here as much of the body as an error keeps, within the time that an error waits for it; otherwise leaves the
    /// body to its reader.
    func beginReading(_ stream: HttpBodyStream, of response: HttpResponse<Data>) async -> HttpResponse<Data> {
        var response = response
        let timeout = bound.configuration.timeout(of: request)
        let watched = WatchedBody(of: response, stream, timeout: timeout, clock: clock, request: recorder.request)
        if request.acceptedStatusCodes.contains(response.status) {
            let origin = origin(of: response)
            // A body that one user has begun to read is not read on by the next.
            response.stream = HttpBodyStream(length: stream.length, origin: origin) { [sessions = bound.sessions] in
                try await sessions.wait { try await watched.next() }
            }
        } else {
            response.stream = nil
            let time = min(timeout ?? HttpError.bodyTime, HttpError.bodyTime)
            response.body = await watched.beginning(of: HttpError.bodyLimit, within: TimeLimit(time, on: clock))
        }
        return response
    }

    /// The response as the readers of its body have to know it.
    func origin(of response: HttpResponse<Data>) -> BodyOrigin {
        let (request, attempt, call, coders) = (recorder.request, recorder.number, book.identity, carriedCoders)
        let head = response.withoutOrigins.replacingBody(Data())
        return BodyOrigin(coders: coders, charset: response.header.textCharset) { error in
            var failure = HttpError(.decoding, stage: .decode, request: request, response: head, underlying: error)
            (failure.attempt, failure.call, failure.coders) = (attempt, call, coders)
            return failure
        }
    }
}

/// A body on its way to its reader: bounds each wait, and turns failures into the framework's.
private final class WatchedBody: @unchecked Sendable {  // Unchecked: one reader asks for one chunk after the other.
    private var chunks: HttpBodyStream.AsyncIterator
    private let limit: TimeLimit?
    private let request: RequestSummary?
    /// The response without its body, for the body's failures.
    private let response: HttpResponse<Data>

    init(
        of response: HttpResponse<Data>,
        _ stream: HttpBodyStream,
        timeout: Duration?,
        clock: any Clock<Duration>,
        request: RequestSummary?
    ) {
        self.response = response.withoutOrigins
        self.chunks = stream.makeAsyncIterator()
        self.limit = timeout.map { TimeLimit($0, on: clock) }
        self.request = request
    }

    /// - Throws: ``HttpError``; `CancellationError` when the task is cancelled.
    func next() async throws -> Data? {
        guard let limit else { return try await take().get() }
        let (result, limitPassed) = await limit.cancelling { await self.take() }
        if limitPassed, case .failure = result, !Task.isCancelled { throw failure(.timeout(limit.duration)) }
        return try result.get()
    }

    /// Returns the first `count` bytes at most, as far as they arrive in time.
    func beginning(of count: Int, within time: TimeLimit) async -> Data {
        await time.cancelling {
            var bytes = Data()
            while bytes.count < count, case .success(let chunk?) = await self.take() {
                bytes += chunk.prefix(count - bytes.count)
            }
            return bytes
        }.value
    }

    private func take() async -> Result<Data?, any Error> {
        do {
            return .success(try await chunks.next())
        } catch is CancellationError where Task.isCancelled {
            return .failure(CancellationError())
        } catch {
            var failure = HttpError(wrapping: error, stage: .send, delivery: .maybeExecuted)
            failure.request = request
            if failure.response == nil { failure.response = response }
            // The reader has not cancelled the body: something on the way has, and the rest is lost.
            if failure.kind == .cancelled, !Task.isCancelled { failure.kind = .transport(.networkConnectionLost) }
            return .failure(failure)
        }
    }

    private func failure(_ kind: FailureKind) -> HttpError {
        HttpError(kind, stage: .send, request: request, response: response)
    }
}
