import Foundation

/// The answers of an attempt, decoded as soon as each has come in.
///
/// A server may say in the body of a 200 that it has failed, and only the request knows how to read it. Interceptors,
/// hedging, latencies and traces go by the status: so the request is asked before any of them sees the answer, at the end
/// of the exchange. Its result is kept, and an answer is not decoded again unless an interceptor has changed it.
final class DecodedAnswers<R: Request>: Sendable {
    private struct Answer: Sendable {
        /// As it goes on to the interceptors.
        var response: HttpResponse<Data>
        let result: Result<R.Result, any Error>
    }

    private let request: R
    /// Of the current attempt; a hedge has two.
    private let answers = Locked<[Answer]>([])

    init(_ request: R) {
        self.request = request
    }

    /// Forgets the answers of the attempt before.
    func removeAll() {
        answers.withLock { $0.removeAll(keepingCapacity: true) }
    }

    /// Decodes an answer, and returns the failure that it is in truth; nil for one that is no failure, or no readable one.
    ///
    /// - Parameters:
    ///   - response: The answer, with its exchange.
    ///   - accepted: The statuses that are decoded at all.
    func rejection(of response: HttpResponse<Data>, accepting accepted: HttpStatusCodes) -> HttpError? {
        guard accepted.contains(response.status) else { return nil }
        let result = Result { try request.decode(response) }
        // Its time was over: who goes on decodes it again.
        if case .failure(is CancellationError) = result { return nil }
        var (seen, rejection) = (response, HttpError?.none)
        if case .failure(let error as HttpError) = result, !error.isFinal,
            case .status(let status) = error.kind, (400...599).contains(status)
        {
            rejection = error
            (seen.status, seen.header) = (status, error.response?.header ?? seen.header)
        }
        let answer = Answer(response: seen, result: result)
        answers.withLock { $0.append(answer) }
        return rejection
    }

    /// The result of an answer that is as it came in; nil for any other.
    func result(of response: HttpResponse<Data>) -> Result<R.Result, any Error>? {
        guard let exchange = response.exchange else { return nil }
        return answers.withLock { answers in
            answers.first { answer in
                guard let own = answer.response.exchange, (own.call, own.number) == (exchange.call, exchange.number)
                else {
                    return false
                }
                return answer.response.status == response.status && answer.response.header == response.header
                    && answer.response.body == response.body
            }?.result
        }
    }
}
