import Foundation

extension Call {
    /// Stage 6: refuses a status that the request does not accept.
    func validate(_ response: HttpResponse<Data>) throws(HttpError) {
        guard !request.acceptedStatusCodes.contains(response.status) else { return }
        throw failure(.status(response.status), in: .validate, response: response)
    }

    /// Stage 7: makes the result.
    func decode(_ response: HttpResponse<Data>) throws(HttpError) -> any Sendable {
        do {
            return try coders.asCurrent { try request.decode(response) }
        } catch {
            throw undecodable(response, error)
        }
    }

    /// The result of an answer that was decoded at the end of its exchange.
    func decoded(
        _ result: Result<any Sendable, any Error>,
        from response: HttpResponse<Data>
    ) throws(HttpError) -> any Sendable {
        switch result {
        case .success(let value): return value
        case .failure(var error as HttpError) where !error.isFinal:
            // Interceptors have seen the answer since then, and may have shared it among several callers.
            (error.exchange, error.sharedAnswer) = (response.exchange, response.sharedAnswer)
            throw undecodable(response, error)
        case .failure(let error): throw undecodable(response, error)
        }
    }

    /// Stage 7 of a request whose response is read while it arrives.
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

/// The answers of an attempt, each decoded as soon as it has arrived.
///
/// A server may report a failure in the body of a 200, and only the request knows how to read it. Interceptors,
/// hedging, latencies and traces go by the status. So the request decodes the answer at the end of the exchange, before
/// any of them sees it. The call's book keeps the result, and an answer is decoded again only if an interceptor has
/// changed it.
extension CallConstants: AnswerJudge {
    func rejection(
        of response: HttpResponse<Data>,
        accepting accepted: HttpStatusCodes,
        in book: ExchangeBook
    ) -> HttpError? {
        accepted.contains(response.status) ? decode(response, in: book)?.rejection : nil
    }

    /// The request's verdict on an answer, whether of this call's exchange or of another call's.
    func verdict(
        on response: HttpResponse<Data>,
        accepting accepted: HttpStatusCodes,
        in book: ExchangeBook
    ) -> AnswerVerdict {
        let response = response.asReceived
        guard accepted.contains(response.status) else { return .taken }
        // An answer is not known if its decoding ran out of time; a call that goes on decodes it again.
        let known = book.decodedAnswer { $0.isReceived(as: response) }
        guard let answer = known ?? decode(response, in: book) else { return .taken }
        guard case .failure = answer.result else { return .taken }
        guard let rejection = answer.rejection else { return .undecodable }
        var rejected = response
        rejected.reject(by: rejection)
        return .rejected(rejected)
    }

    private func decode(_ response: HttpResponse<Data>, in book: ExchangeBook) -> DecodedAnswer? {
        let result: Result<any Sendable, any Error>
        do {
            result = .success(try coders.asCurrent { try request.decode(response) })
        } catch is CancellationError {
            return nil
        } catch {
            result = .failure(error)
        }
        let answer = DecodedAnswer(response, result)
        book.note(answer)
        return answer
    }
}

/// The request's judgement of the answers of an attempt.
protocol AnswerJudge: AnyObject, Sendable {
    /// Decodes an answer, and returns the failure that it reports; nil when it reports none, or cannot be decoded.
    ///
    /// - Parameters:
    ///   - response: The answer, with its exchange.
    ///   - accepted: The statuses whose answers are decoded at all.
    ///   - book: The call's book, which keeps the result.
    func rejection(
        of response: HttpResponse<Data>,
        accepting accepted: HttpStatusCodes,
        in book: ExchangeBook
    ) -> HttpError?
}
