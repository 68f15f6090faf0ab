import Foundation

extension Call {
    /// Creates a failure that the call itself has found.
    func failure(
        _ kind: FailureKind,
        in stage: CallStage,
        delivery: Delivery = .maybeExecuted,
        response: HttpResponse<Data>? = nil,
        underlying: (any Error)? = nil
    ) -> HttpError {
        var error = HttpError(
            kind,
            stage: stage,
            delivery: response.map(Delivery.init) ?? delivery,
            response: response,
            retryAfter: response?.header.retryAfter(),
            underlying: underlying
        )
        if let response, error.exchange == nil, let last = book.lastEnded, last.status == response.status {
            (error.exchange, error.redirects) = (last, last.redirects)
        }
        locate(&error)
        return error
    }

    /// Creates a failure from an error thrown by the user's code, a transport, or an inner stage.
    ///
    /// - Parameter exchange: The exchange that has failed; nil when none has, or when the error itself knows it.
    func failure(
        _ thrown: any Error,
        in stage: CallStage,
        delivery: Delivery = .maybeExecuted,
        exchange: CallTrace.Exchange? = nil
    ) -> HttpError {
        var error = HttpError(wrapping: thrown, stage: stage, delivery: delivery)
        if let exchange { error.exchange = exchange }
        let isOwn = error.exchange?.call == scope.id && !error.isOfSubrequest
        // Another service's call, a subrequest or an actor's work was cancelled; this call goes on.
        if error.kind == .cancelled, !Task.isCancelled, !isOwn {
            error.kind = .custom
            error.underlying = error.underlying ?? thrown
        }
        // A cancellation caused by the deadline counts as the deadline; so does the end of a call within this one.
        if error.kind == .cancelled || error.endsInnerCall, let deadline, recorder.elapsed >= deadline {
            error.kind = .deadline(deadline)
        }
        locate(&error)
        return error
    }

    /// Creates a failure of a subrequest, regardless of how far the call has come meanwhile.
    func subrequestFailure(
        _ thrown: any Error,
        in stage: CallStage,
        delivery: Delivery,
        of request: HttpRequest,
        _ context: AttemptContext
    ) -> HttpError {
        var error = HttpError(wrapping: thrown, stage: stage, delivery: delivery)
        if error.request == nil { error.request = RequestSummary(request, serviceOrigin: context.serviceOrigin) }
        (error.attempt, error.call, error.isOfSubrequest) = (context.number, book.identity, true)
        error.coders = carriedCoders
        return error
    }

    /// Completes a failure by the records of its attempt: its delivery becomes at least theirs. A sign-out after a 503,
    /// for instance, has sent nothing itself, and the request may have been executed all the same.
    private func locate(_ error: inout HttpError) {
        // A subrequest's failure concerns only itself: it tells nothing about the rest of the attempt.
        let isOfSubrequest = error.isOfSubrequest || error.exchange.map(book.isSubrequest) == true
        if isOfSubrequest { (error.delivery, error.request) = (.notSent, nil) }
        let own = error.exchange.flatMap { $0.call == scope.id && !isOfSubrequest ? $0.number : nil }
        let attempt = book.delivery(besides: own)
        // A later failure does not undo what an earlier exchange of this attempt may have done.
        error.delivery = max(error.delivery, attempt.delivery)
        // The request that must not be repeated represents the attempt, whichever request has failed.
        if error.request == nil || attempt.mustNotBeRepeated { error.request = attempt.request ?? recorder.request }
        error.attempt = recorder.number
        error.call = book.identity
        error.coders = carriedCoders
    }
}

extension HttpError {
    /// Whether a call within this one was cancelled, or ran out of time.
    fileprivate var endsInnerCall: Bool {
        guard let inner = underlying as? HttpError, inner.isFinal else { return false }
        if case .deadline = inner.kind { return true }
        return inner.kind == .cancelled
    }

    /// Wraps any thrown error. An ``HttpError`` stays as it is, unless it has ended another call. Cancellations,
    /// invalid requests, moves of the environment, and failures of a transport, a refresh or URL loading get a kind of
    /// their own. Any other error gets the kind ``FailureKind/custom``, with the error underneath.
    ///
    /// - Parameters:
    ///   - thrown: The error.
    ///   - stage: The stage of the call.
    ///   - delivery: Whether the request may have been executed, unless the error itself says so.
    package init(wrapping thrown: any Error, stage: CallStage, delivery: Delivery) {
        switch thrown {
        case let error as HttpError where error.isFinal:
            // The error ended another call: its request and delivery say nothing about this one.
            self.init(.custom, stage: stage, delivery: delivery, underlying: error)
        case let error as HttpError:
            self = error
        case is CancellationError:
            self.init(.cancelled, stage: stage, delivery: delivery)
        case let error as HttpRequest.Invalid:
            self.init(.invalidRequest(error), stage: stage, delivery: .notSent)
        case let error as FailureKind.EnvironmentChange:
            self.init(.environmentChanged(error), stage: stage, delivery: .notSent)
        case let error as TransportError:
            self.init(error, stage: stage)
        case let error as URLError where error.code == .cancelled:
            self.init(.cancelled, stage: stage, delivery: delivery)
        case let error as URLError:
            // A URLError holds the URL with its query, which may hold a token; only its code is kept.
            self.init(.transport(error.code), stage: stage, delivery: stage == .send ? error.code.delivery : delivery)
        case let error as any RefreshFailure:
            let wait = error.retryAfter
            self.init(.authorization, stage: stage, delivery: delivery, retryAfter: wait, underlying: error)
        default:
            self.init(.custom, stage: stage, delivery: delivery, underlying: thrown)
        }
    }

    private init(_ error: TransportError, stage: CallStage) {
        switch error {
        case .failed(.cancelled, let delivery, _):
            self.init(.cancelled, stage: stage, delivery: delivery)
        case .failed(let code, let delivery, _):
            self.init(.transport(code), stage: stage, delivery: delivery, underlying: error)
        case .responseTooLarge(let limit):
            self.init(.responseTooLarge(limit: limit), stage: stage, underlying: error)
        }
    }
}

extension HttpError {
    /// Whether a transport has failed, or refused a body that was too large.
    var isTransportFailure: Bool {
        switch kind {
        case .transport, .responseTooLarge: true
        default: false
        }
    }

    /// Adds the response whose body has failed, its body cut to ``bodyLimit``.
    mutating func keep(_ response: HttpResponse<Data>) {
        self.response = response.withoutOrigins.replacingBody(Data(response.body.prefix(Self.bodyLimit)))
    }
}
