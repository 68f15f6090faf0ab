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
            return response.replacingBody(try coders.asCurrent { try request.decode(response) })
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
            let body = response.stream ?? HttpBodyStream(response.body, coders: carriedCoders)
            let streamed = response.replacingBody(body)
            return response.replacingBody(try await coders.asCurrent { try await request.decode(streamed) })
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

extension Call {
    /// The end of a call that has succeeded: the retrier and the rules of hedging take note of it, each once.
    ///
    /// - Parameters:
    ///   - decoded: The result.
    ///   - response: The answer that it was made of.
    func succeeded(
        _ decoded: HttpResponse<R.Result>,
        by response: HttpResponse<Data>
    ) -> HttpResponse<R.Result> {
        let success = success(by: response)
        if let hedging, let origin = success.answered?.request.origin {
            if couldBeHedged { success.record(in: hedging.latencies) }
            if let budget = hedging.budget.budget(of: origin) { success.deposit(in: budget) }
        }
        retrier.succeeded(success)
        var decoded = decoded
        decoded.trace = recorder.succeeded(decoded.status, by: response.exchange)
        return decoded
    }

    private func success(by response: HttpResponse<Data>) -> CallSuccess {
        let exchanges = book.exchanges()
        // That a stream begins does not show yet that the server bears it.
        let permits = request.streamsResponse ? [] : payment.used
        guard let answered = answered(response) else { return CallSuccess(exchanges: exchanges, permits: permits) }
        // A redirect and a hedge go on with the request that was sent first, and it is that one's origin.
        let root = exchanges.first { $0.number == answered.root } ?? answered
        var latency = answered.latency
        if let own = latency, root.number != answered.number {
            latency = max(.zero, answered.start - root.start - root.connectionWait + own)
        }
        return CallSuccess(exchanges: exchanges, answered: root, latency: latency, permits: permits)
    }

    /// The exchange of this call that the server has answered well; nil when an interceptor has made a success of something
    /// else, which tells nothing of the server.
    private func answered(_ response: HttpResponse<Data>) -> CallTrace.Exchange? {
        let own = response.exchange.flatMap { $0.call == scope.id ? $0 : nil }
        guard let exchange = own ?? book.lastEnded, let status = exchange.status,
            status < 400 || request.acceptedStatusCodes.contains(status)
        else { return nil }
        return exchange
    }
}

/// The answers of an attempt, decoded as soon as each has come in.
///
/// A server may say in the body of a 200 that it has failed, and only the request knows how to read it. Interceptors,
/// hedging, latencies and traces go by the status: so the request is asked before any of them sees the answer, at the
/// end of the exchange. Its result is kept, and an answer is not decoded again unless an interceptor has changed it.
struct DecodedAnswers<R: Request>: Sendable {
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
    private let coders: JsonCoders
    /// Of the current attempt; a hedge has two.
    private let answers = Locked<[Answer]>([])

    init(_ request: R, _ coders: JsonCoders) {
        (self.request, self.coders) = (request, coders)
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
        guard let answer = known(response, as: { $0.received }) ?? decode(response) else { return .taken }
        guard case .failure = answer.result else { return .taken }
        guard let rejection = answer.rejection else { return .undecodable }
        var rejected = response
        rejected.reject(by: rejection)
        return .rejected(rejected)
    }

    /// The result of an answer that is as it came in; nil for any other.
    func result(of response: HttpResponse<Data>) -> Result<R.Result, any Error>? {
        known(response, as: { $0.seen })?.result
    }

    private func decode(_ response: HttpResponse<Data>) -> Answer? {
        let result = Result { try coders.asCurrent { try request.decode(response) } }
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

    private func known(_ response: HttpResponse<Data>, as form: (Answer) -> HttpResponse<Data>) -> Answer? {
        guard let exchange = response.exchange else { return nil }
        for answer in answers.withLock({ $0 }) {
            let own = form(answer)
            guard let origin = own.exchange, (origin.call, origin.number) == (exchange.call, exchange.number),
                own.status == response.status, own.header == response.header, own.body == response.body
            else { continue }
            return answer
        }
        return nil
    }
}
