import Foundation

/// Sends a request and follows its redirects (RFC 9110 §15.4), so that the transport does not have to.
///
/// Only the fields that HTTP itself needs are sent across origins, which is what transports most often get wrong.
struct RedirectFollower: Sendable {
    /// The ending of an exchange, and its redirects up to then.
    struct Outcome: Sendable {
        enum Ending: Sendable {
            case response(HttpResponse<Data>)
            case refused(FailureKind.RedirectRefusal, HttpResponse<Data>)
            case failed(any Error)
        }

        let ending: Ending
        /// The redirects that were followed; nil for none.
        let redirects: CallTrace.Redirects?
        /// The record of the last hop; nil when its URL has no origin.
        let exchange: CallTrace.Exchange?
    }

    /// The most redirects of one attempt: as many as browsers follow (Fetch standard, "HTTP-redirect fetch").
    static let limit = 20

    let transport: any HttpTransport
    /// The statuses that the caller wants to see; a redirect with one of them counts as an answer.
    let accepted: HttpStatusCodes
    let book: ExchangeBook
    /// Says which status counts for an answer. Nil for subrequests, whose answers are not the request's.
    var classifier: (any AnswerClassifier)?
    /// The sessions that the call belongs to.
    var sessions: [CallSession] = []
    /// The service's own field that says how long to wait; nil for none.
    var retryAfterField: RetryAfterField?
    /// The interceptors that wrap each hop, once it has been authorized.
    var interceptors: ArraySlice<any NetworkInterceptor> = []

    /// Sends `request`, and then the requests that it is redirected to.
    ///
    /// - Parameters:
    ///   - context: The attempt's context, with the progress of this exchange.
    ///   - opening: Describes how the first hop is recorded.
    func send(
        _ request: HttpRequest,
        _ context: AttemptContext,
        _ progress: ExchangeProgress,
        _ opening: ExchangeBook.Opening
    ) async -> Outcome {
        var (request, opening) = (request, opening)
        var visited: [Visit] = []
        while true {
            let (ending, record) = await hop(request, context, progress, opening)
            let redirects = opening.redirects
            guard case .response(let response) = ending, let location = location(in: response) else {
                return Outcome(ending: ending, redirects: redirects, exchange: record)
            }

            // Not every transport responds to cancellation.
            if Task.isCancelled {
                return Outcome(ending: .failed(CancellationError()), redirects: redirects, exchange: record)
            }
            visited.append(Visit(request))
            do throws(FailureKind.RedirectRefusal) {
                let previous = request
                request = try redirected(request, by: response.status, to: location)
                guard visited.count <= Self.limit else { throw .tooMany(limit: Self.limit) }
                guard !visited.contains(Visit(request)) else { throw .loop }
                opening.follow(record, from: previous, to: request, by: response)
            } catch {
                return Outcome(ending: .refused(error, response), redirects: redirects, exchange: record)
            }
        }
    }

    /// Makes one request through the interceptors that wrap each hop, and returns its outcome and its record.
    private func hop(
        _ request: HttpRequest,
        _ context: AttemptContext,
        _ progress: ExchangeProgress,
        _ opening: ExchangeBook.Opening
    ) async -> (Outcome.Ending, CallTrace.Exchange?) {
        if opening.role == .redirect { progress.beginSending() }
        guard !interceptors.isEmpty else { return await write(request, context, progress, opening) }
        let passage = Locked((isOver: false, last: CallTrace.Exchange?.none))
        defer { passage.withLock { $0.isOver = true } }
        do {
            let response = try await pass(request, context, past: interceptors.startIndex) { signed in
                let (isOver, last) = passage.withLock { $0 }
                guard !isOver else { throw AttemptIsOver() }
                // It may have fields that no check has seen.
                try signed.validate()
                var opening = opening
                // An interceptor sends it again.
                if last != nil { (opening.root, opening.number) = (opening.root ?? opening.number, nil) }
                progress.beginSending()
                let (ending, record) = await write(signed, context, progress, opening)
                passage.withLock { $0.last = record ?? last }
                return try ending.get()
            }
            return (.response(response), passage.withLock { $0.last })
        } catch {
            let last = passage.withLock { $0.last }
            // An interceptor that fails by itself has sent nothing.
            var failure = HttpError(wrapping: error, stage: .intercept, delivery: .notSent)
            if error is CancellationError, !Task.isCancelled {
                failure = HttpError(.custom, stage: .intercept, delivery: .notSent, underlying: error)
            }
            return (.failed(failure), last)
        }
    }

    /// Hands one request to the transport, and returns its outcome and its record.
    private func write(
        _ request: HttpRequest,
        _ context: AttemptContext,
        _ progress: ExchangeProgress,
        _ opening: ExchangeBook.Opening
    ) async -> (Outcome.Ending, CallTrace.Exchange?) {
        // Nothing goes out that nobody waits for, such as a second send whose first has been answered.
        if Task.isCancelled {
            let stage = interceptors.isEmpty ? CallStage.send : .intercept
            return (.failed(HttpError(.cancelled, stage: stage, delivery: .notSent)), nil)
        }
        // Right before the transport: the user may have signed out since the call was bound. A request that has been sent
        // still answers its caller, whoever leaves meanwhile; one that the transport has queued is refused (see below).
        if let end = sessions.end {
            return (.failed(HttpError(wrapping: end, stage: .send, delivery: .notSent)), nil)
        }
        let entry = book.begin(request, opening, progress, serviceOrigin: context.serviceOrigin)
        do {
            var response =
                context.streamsResponse
                ? try await stream(request, context) : try await transport.send(request, context: context.forTransport)
            if response.url == nil { response.url = request.url }
            if let retryAfterField { response.header.translateHint(of: retryAfterField) }
            guard let entry else { return (.response(response), nil) }
            let record = finish(&response, entry, of: request)
            return (.response(response), record)
        } catch var error {
            var failure = HttpError(wrapping: error, stage: .send, delivery: .maybeExecuted)
            // A transport writes nothing once the session is over (``HttpRequest/refusal``).
            if error is RefreshError, request.refusal != nil {
                failure.delivery = .notSent
                error = failure
            }
            if failure.kind == .cancelled, progress.isUnsent {
                (error, failure.delivery) = (TransportError.cancelledUnsent, .notSent)
            }
            // The timeout has cancelled it, not the caller.
            let timeout = progress.isOutOfTime && failure.kind == .cancelled ? context.timeout : nil
            if var answer = progress.answer, timeout != nil || failure.isTransportFailure {
                if answer.url == nil { answer.url = request.url }
                // A status that has arrived counts, whatever becomes of its body. No time is left to follow a redirect.
                if !accepted.contains(answer.status), timeout == nil || location(in: answer) == nil {
                    let record = entry.flatMap { finish(&answer, $0, of: request, isIncomplete: true) }
                    answer.markIncomplete()
                    return (.response(answer), record)
                }
                if timeout == nil {
                    failure.keep(answer)
                    error = failure
                }
            }
            let kind = timeout.map(FailureKind.timeout) ?? failure.kind
            return (.failed(error), entry.flatMap { book.end($0, .failed(kind), failure.delivery) })
        }
    }

    /// Passes a request on to the interceptors that wrap each hop, and then to `exchange`.
    private func pass(
        _ request: HttpRequest,
        _ context: AttemptContext,
        past depth: Int,
        _ exchange: @escaping @Sendable (HttpRequest) async throws -> HttpResponse<Data>
    ) async throws -> HttpResponse<Data> {
        guard depth < interceptors.endIndex else { return try await exchange(request) }
        // Another origin is not to see what the credential signs.
        if interceptors[depth].networkStage == .signing, request.origin != context.serviceOrigin {
            return try await pass(request, context, past: depth + 1, exchange)
        }
        let next = AttemptContext.Next { passedOn in
            var passedOn = passedOn.hidingSecrets(of: request)
            if passedOn.origin != request.origin { passedOn.leaveBehindCredentials(of: request) }
            return try await pass(passedOn, context, past: depth + 1, exchange)
        }
        return try await interceptors[depth].intercept(request, context: context, next: next)
    }

    /// Records an answer, with the status that counts for it unless it is a redirect.
    ///
    /// - Parameter isIncomplete: Whether the body has failed. Default: no.
    private func finish(
        _ response: inout HttpResponse<Data>,
        _ entry: ExchangeBook.Entry,
        of request: HttpRequest,
        isIncomplete: Bool = false
    ) -> CallTrace.Exchange? {
        guard let received = book.record(of: entry, .answered(status: response.status), Delivery(response)) else {
            return nil
        }
        response.answer(received, to: request)
        if let classifier, mayClassify(response) {
            let counting = classifier.status(of: response)
            // A failure of which only a part has come makes no success.
            if !isIncomplete || !accepted.contains(counting.status) { response.count(as: counting) }
        }
        let record = response.exchange ?? received
        book.end(entry, as: record)
        return record
    }

    /// Makes a hop whose body is read while it arrives, and is kept in the response's `stream`.
    private func stream(_ request: HttpRequest, _ context: AttemptContext) async throws -> HttpResponse<Data> {
        let streamed = try await transport.stream(request, context: context.forTransport)
        var response = streamed.replacingBody(Data())
        response.stream = streamed.body
        return response
    }

    /// Whether the request is asked which status counts: not for a redirect, nor for an answer that never has a body, such
    /// as a 304 to a cache's question.
    func mayClassify(_ response: HttpResponse<Data>) -> Bool {
        guard location(in: response) == nil else { return false }
        return accepted.contains(response.status) || response.status >= 200 && response.status != 304
    }

    /// The URL that a redirect leads to; nil when there is no redirect to follow.
    private func location(in response: HttpResponse<Data>) -> String? {
        guard [301, 302, 303, 307, 308].contains(response.status), !accepted.contains(response.status) else {
            return nil
        }
        return response.header.values(of: .location).first
    }

    private func redirected(
        _ request: HttpRequest,
        by status: Int,
        to location: String
    ) throws(FailureKind.RedirectRefusal) -> HttpRequest {
        guard let url = URL(string: location.urlReference, relativeTo: request.url)?.absoluteURL,
            let origin = HttpOrigin(url), origin.scheme == "http" || origin.scheme == "https",
            url.user == nil, url.password == nil
        else { throw .invalidLocation }
        guard request.origin?.scheme != "https" || origin.scheme == "https" else { throw .downgrade }

        var next = request
        next.url = url
        // 303 asks for a GET; 301 and 302 turn a POST into one, as every client does (RFC 9110 §15.4.2).
        if status == 303 && request.method != .head || status < 303 && request.method == .post {
            next.method = .get
            next.body = .empty
            for name in [HttpHeader.Name.contentType, "Content-Encoding", "Content-Language"] {
                next.header[name] = nil
            }
        }
        guard next.body.isReplayable else { throw .bodySpent }
        if origin != request.origin {
            // The request itself declares its body a secret of the origin that it was made for.
            guard next.allowsBodyAcrossOrigins || next.body.isEmpty else { throw .bodyAcrossOrigins }
            // Another origin cannot properly answer a request that may hold a credential, even once the credential has
            // been removed. A request that holds none, such as one for a server's configuration, may be answered
            // elsewhere.
            let holdsNone = request.body.isEmpty && !request.header.fields.contains { $0.name.isSensitive }
            guard holdsNone || !CredentialWork.isActive else { throw .bodyAcrossOrigins }
            next.header = next.header.crossingOrigins(with: next.method)
            next.removeTags()
        }
        return next
    }

    /// A place that the attempt has visited; fragments are not sent, so they do not make a different place.
    private struct Visit: Hashable {
        let method: HttpMethod
        let url: Substring

        init(_ request: HttpRequest) {
            (method, url) = (request.method, request.url.absoluteString.prefix { $0 != "#" })
        }
    }
}

extension RedirectFollower.Outcome.Ending {
    /// The response; throws the failure, as the framework's.
    fileprivate func get() throws -> HttpResponse<Data> {
        switch self {
        case .response(let response), .refused(_, let response): return response
        case .failed(let error): throw HttpError(wrapping: error, stage: .send, delivery: .maybeExecuted)
        }
    }
}

extension HttpHeader {
    /// The fields that may go to another origin: HTTP's own fields that say what is wanted and what the body is, and
    /// tracing.
    ///
    /// A service's own fields, such as `X-Sign`, `DPoP` or `Content-Account`, were meant only for the origin that they
    /// were made for. So was `Sec-WebSocket-Protocol`, in which many services carry their token.
    ///
    /// - Parameter method: The method of the redirected request.
    package func crossingOrigins(with method: HttpMethod) -> HttpHeader {
        HttpHeader(
            fields.filter { field in
                let name = field.name.rawValue.lowercased()
                return Self.carried.contains(name) || !method.isSafe && Self.conditions.contains(name)
            }
        )
    }

    /// Listed by name, since any service may use the prefixes `Accept-…` and `Content-…` for fields of its own.
    ///
    /// The range fields are included because a file is often on another host, where the rest of it is asked for;
    /// `last-event-id`, because a feed that has moved continues after its last event, as in a browser.
    private static let carried: Set<String> = [
        "accept", "accept-charset", "accept-datetime", "accept-encoding", "accept-language", "cache-control",
        "content-digest", "content-disposition", "content-encoding", "content-language", "content-length",
        "content-location", "content-range", "content-type", "if-range", "last-event-id", "range", "traceparent",
        "tracestate", "user-agent",
    ]

    /// Fields without which a change must not be made: its conditions, and the key by which a repetition is recognised.
    /// A GET without its conditions merely brings the same content in more bytes (RFC 9110 §15.4).
    private static let conditions: Set<String> = [
        "idempotency-key", "if-match", "if-modified-since", "if-none-match", "if-unmodified-since",
    ]
}

extension ExchangeBook.Opening {
    /// The opening of the hop that `record` has been redirected to.
    fileprivate mutating func follow(
        _ record: CallTrace.Exchange?,
        from previous: HttpRequest,
        to next: HttpRequest,
        by response: HttpResponse<Data>
    ) {
        var summary = redirects ?? CallTrace.Redirects()
        summary.count += 1
        summary.leftOrigin = summary.leftOrigin || next.origin != previous.origin
        summary.becameGet = summary.becameGet || next.method != previous.method
        summary.setCookie = summary.setCookie || response.header[.setCookie] != nil
        (role, number, redirects) = (.redirect, nil, summary)
        root = root ?? record?.number
    }
}
