import Foundation

extension Call {
    /// Stage 6: refuses a status that the request does not accept.
    func validate(_ response: HttpResponse<Data>) throws(HttpError) {
        guard !request.acceptedStatusCodes.contains(response.status) else { return }
        throw failure(.status(response.status), in: .validate, response: response)
    }

    /// Stage 7: makes the result.
    func decode(_ response: HttpResponse<Data>) throws(HttpError) -> HttpResponse<R.Result> {
        do {
            return response.replacingBody(try request.decode(response))
        } catch {
            throw undecodable(response, error)
        }
    }

    /// The result of an answer that has been decoded at the end of its exchange.
    func decoded(
        _ result: Result<R.Result, any Error>,
        from response: HttpResponse<Data>
    ) throws(HttpError) -> HttpResponse<R.Result> {
        switch result {
        case .success(let value): return response.replacingBody(value)
        case .failure(var error as HttpError) where !error.isFinal:
            // Interceptors have seen it since, and may have had several callers share it.
            (error.exchange, error.sharedAnswer) = (response.exchange, response.sharedAnswer)
            throw undecodable(response, error)
        case .failure(let error): throw undecodable(response, error)
        }
    }

    /// Stage 7 of a request whose response is read while it comes.
    func decodeStream(of response: HttpResponse<Data>) async throws(HttpError) -> HttpResponse<R.Result> {
        do {
            // An interceptor that has answered by itself has the whole body.
            let body = response.stream ?? HttpBodyStream(response.body)
            return response.replacingBody(try await request.decode(response.replacingBody(body)))
        } catch {
            throw undecodable(response, error)
        }
    }

    private func undecodable(_ response: HttpResponse<Data>, _ thrown: any Error) -> HttpError {
        switch thrown {
        case let error as HttpError where !error.isFinal:
            // Of an answer that an interceptor has made another value of, the exchange is known here alone.
            failure(error, in: .decode, exchange: error.exchange ?? response.exchange ?? book.lastEnded)
        case is CancellationError where Task.isCancelled: failure(CancellationError(), in: .decode)
        default: failure(.decoding, in: .decode, response: response, underlying: thrown)
        }
    }
}
