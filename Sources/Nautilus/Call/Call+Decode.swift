import Foundation

extension Call {
    /// Stage 7: refuses a status that the request does not accept.
    func validate(_ response: HttpResponse<Data>) throws(HttpError) {
        guard !request.acceptedStatusCodes.contains(response.status) else { return }
        throw failure(.status(response.status), in: .validate, response: response)
    }

    /// Stage 8: makes the result.
    func decode(_ response: HttpResponse<Data>) throws(HttpError) -> any Sendable {
        do {
            return try coders.asCurrent { try request.decode(response) }
        } catch {
            throw undecodable(response, error)
        }
    }

    /// Stage 8 of a request whose response is read while it arrives.
    func decodeStream(of response: HttpResponse<Data>) async throws(HttpError) -> any Sendable {
        do {
            // An interceptor that has answered by itself supplies the whole body.
            let body = response.stream ?? HttpBodyStream(response.body, origin: origin(of: response))
            let streamed = response.replacingBody(body)
            return try await coders.asCurrent { try await request.decode(streamed) }
        } catch {
            throw undecodable(response, error)
        }
    }

    private func undecodable(_ response: HttpResponse<Data>, _ thrown: any Error) -> HttpError {
        switch thrown {
        case let error as HttpError where !error.isFinal:
            // If an interceptor has made a new value of the answer, only the book knows its exchange.
            failure(error, in: .decode, exchange: error.exchange ?? response.exchange ?? book.lastEnded)
        case is CancellationError where Task.isCancelled: failure(CancellationError(), in: .decode)
        default: failure(.decoding, in: .decode, response: response, underlying: thrown)
        }
    }
}
