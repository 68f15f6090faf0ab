import Foundation

extension Call {
    /// Stage 6: refuses a status that the request does not accept.
    func validate(_ response: HttpResponse<Data>) throws(HttpError) {
        guard !request.acceptedStatusCodes.contains(response.status) else { return }
        throw failure(.status(response.status), in: .validate, response: response)
    }

    /// Stage 7: makes the result.
    func decode(_ response: HttpResponse<Data>) async throws(HttpError) -> HttpResponse<R.Result> {
        do {
            return response.replacingBody(try await result(of: response))
        } catch let error as HttpError where !error.isFinal {
            throw failure(error, in: .decode)
        } catch is CancellationError where Task.isCancelled {
            throw failure(CancellationError(), in: .decode)
        } catch {
            throw failure(.decoding, in: .decode, response: response, underlying: error)
        }
    }

    private func result(of response: HttpResponse<Data>) async throws -> R.Result {
        guard request.streamsResponse else { return try request.decode(response) }
        // An interceptor that has answered by itself has the whole body.
        let body = response.stream ?? HttpBodyStream(response.body)
        return try await request.decode(response.replacingBody(body))
    }
}
