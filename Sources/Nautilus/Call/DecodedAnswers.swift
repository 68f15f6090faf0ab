import Foundation

/// The answers of an attempt, decoded as soon as each has come in.
///
/// A server may say in the body of a 200 that it has failed, and only the request knows how to read it. Interceptors,
/// hedging, latencies and traces go by the status: so the request is asked before any of them sees the answer, at the
/// end of the exchange. Its result is kept, and an answer is not decoded again unless an interceptor has changed it.
final class DecodedAnswers<R: Request>: Sendable {
    private struct Answer: Sendable {
        /// As it came in.
        let received: HttpResponse<Data>
        /// As it goes on to the interceptors.
        var seen: HttpResponse<Data>
        let result: Result<R.Result, any Error>
        /// The failure that it is in truth; nil for none.
        let rejection: HttpError?
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

    /// Decodes an answer, and returns the failure that it is in truth; nil for one that is no failure, or no readable
    /// one.
    ///
    /// - Parameters:
    ///   - response: The answer, with its exchange.
    ///   - accepted: The statuses that are decoded at all.
    func rejection(of response: HttpResponse<Data>, accepting accepted: HttpStatusCodes) -> HttpError? {
        accepted.contains(response.status) ? decode(response)?.rejection : nil
    }

    /// The request's verdict on an answer, of this call's exchange or of another's.
    func verdict(on response: HttpResponse<Data>, accepting accepted: HttpStatusCodes) -> AnswerVerdict {
        let response = response.asReceived
        guard accepted.contains(response.status) else { return .taken }
        // Its time was over: a call that goes on decodes it again.
        guard let answer = known(response, as: \.received) ?? decode(response) else { return .taken }
        guard case .failure = answer.result else { return .taken }
        guard let rejection = answer.rejection else { return .undecodable }
        var rejected = response
        rejected.reject(by: rejection)
        return .rejected(rejected)
    }

    /// The result of an answer that is as it came in; nil for any other.
    func result(of response: HttpResponse<Data>) -> Result<R.Result, any Error>? {
        known(response, as: \.seen)?.result
    }

    private func decode(_ response: HttpResponse<Data>) -> Answer? {
        let result = Result { try request.decode(response) }
        if case .failure(is CancellationError) = result { return nil }
        var (seen, rejection) = (response, HttpError?.none)
        if case .failure(let error as HttpError) = result, !error.isFinal,
            case .status(let status) = error.kind, (400...599).contains(status)
        {
            rejection = error
            seen.reject(by: error)
        }
        let answer = Answer(received: response, seen: seen, result: result, rejection: rejection)
        answers.withLock { $0.append(answer) }
        return answer
    }

    private func known(_ response: HttpResponse<Data>, as form: KeyPath<Answer, HttpResponse<Data>>) -> Answer? {
        guard let exchange = response.exchange else { return nil }
        return answers.withLock { answers in
            answers.first { answer in
                let own = answer[keyPath: form]
                return own.exchange.map { ($0.call, $0.number) == (exchange.call, exchange.number) } == true
                    && own.status == response.status && own.header == response.header && own.body == response.body
            }
        }
    }
}
