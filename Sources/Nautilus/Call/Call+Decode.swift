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
            return response.replacingBody(try request.decode(response.body))
        } catch {
            throw failure(.decoding, in: .decode, response: response, underlying: error)
        }
    }
}
