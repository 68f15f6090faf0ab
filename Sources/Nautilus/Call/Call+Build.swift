import Foundation

extension Call {
    /// Stage 1: a request as of now, and the context of the attempt that it begins.
    func build() async throws(HttpError) -> (HttpRequest, AttemptContext) {
        recorder.begin()
        answers.removeAll()
        couldBeHedged = false
        do {
            _ = try targetNow()
            let header = service.header.merging(try await service.asyncHeader)
            (interceptors, transport) = (service.interceptors, service.transport)
            // Once more: the service may have moved since, and all of this has to be of one environment.
            let target = try targetNow()
            let built = try coders.asCurrent { try builder.build(request, to: target, with: header) }
            let context = AttemptContext(
                number: recorder.number,
                serviceOrigin: target.service.origin,
                timeout: try timeout(),
                remaining: remaining,
                streamsResponse: request.streamsResponse,
                acceptedStatusCodes: request.acceptedStatusCodes,
                call: book.identity,
                facts: scope.facts,
                sequence: sequence
            )
            return (built, context)
        } catch {
            throw failure(error, in: .build, delivery: .notSent)
        }
    }

    /// The target of the call, the same as when it began.
    ///
    /// - Throws: ``InvalidRequest``; ``EnvironmentChange`` when the service has moved since.
    private func targetNow() throws -> CallTarget {
        let present = try CallTarget(of: request, for: service, before: target)
        if let target {
            try target.check(present)
        } else {
            // Nothing was known when the call began: its URL was invalid, and no longer is.
            try sequence.begin(at: present.service)
            target = present
        }
        return present
    }

    /// The timeout of the attempt's exchanges; nil for none.
    ///
    /// - Throws: ``InvalidRequest/notPositive(parameter:)``.
    private func timeout() throws(InvalidRequest) -> Duration? {
        let timeout = service.timeout(of: request)
        if let timeout, timeout <= .zero { throw .notPositive(parameter: "timeout") }
        return timeout
    }

    /// The time until the deadline; nil when there is none.
    var remaining: Duration? {
        deadline.map { $0 - recorder.elapsed }
    }
}

extension Request {
    /// The request that a call would begin with, as a command of `curl` for a POSIX shell. Nothing is sent.
    ///
    /// ```swift
    /// print(try await GetNote(id: 7).curlCommand(with: service))
    /// // curl --request GET 'https://api.example.com/v1/notes/7'
    /// ```
    /// It is as the request and the service declare it, ``HttpService/asyncHeader`` included. Additions by interceptors
    /// and the retrier, such as a session's token, are not there: asking them could begin a refresh.
    ///
    /// - Parameters:
    ///   - service: The service that the call would go to.
    ///   - showsSecrets: Whether queries, the values of sensitive fields, and the body are shown. Default: false, since such
    ///     a command ends in logs and tickets.
    /// - Throws: The service's own error, for a request that cannot be built.
    public func curlCommand<S: HttpService>(
        with service: S,
        showsSecrets: Bool = false
    ) async throws(S.RequestError) -> String {
        if let selected = service.selectedService {
            return try await curlCommand(with: selected, showsSecrets: showsSecrets)
        }
        do {
            let header = service.header.merging(try await service.asyncHeader)
            let target = try CallTarget(of: self, for: service)
            var builder = RequestBuilder()
            let built = try service.coders.asCurrent { try builder.build(self, to: target, with: header) }
            return built.curlCommand(showsSecrets: showsSecrets)
        } catch {
            throw service.mapped(HttpError(wrapping: error, stage: .build, delivery: .notSent))
        }
    }
}

/// Makes the request of each attempt from what request and service say at that moment.
///
/// Two things stay as the first attempt had them: the `Idempotency-Key` with its body, since a server compares them,
/// and a one-shot body, since there is no other.
struct RequestBuilder {
    private var keys = IdempotencyKeyBook()
    private var lastContent: Content?
    /// The header that the attempt was built with; held, so that a change of the request's own header has to copy it.
    private var checkedHeader = HttpHeader()
    /// The origin to which that header may go whole.
    private var builtOrigin: HttpOrigin?

    /// Who has made a request that goes out, as far as it is known.
    enum Kind {
        /// The attempt's own: there is no interceptor that could make another.
        case own
        /// An interceptor has passed it on.
        case passedOn
        /// An interceptor says that it is not the attempt's own.
        case aside
    }

    /// A body, and what the header says of it: a form's boundary, say, which is another one for each body.
    private struct Content {
        let payload: HttpBody.Payload
        let type: String?
        let encoding: String?
    }

    /// The key of the attempt's own request; nil when it has none.
    var ownKey: String? { keys.own }

    /// Whether the body can be sent once more.
    var isReplayable: Bool { keptContent?.payload.isReplayable ?? true }

    /// The body of the attempt before, where it has to stay; nil where it is made anew.
    private var keptContent: Content? {
        switch lastContent?.payload {
        case .stream(let stream) where stream.isOneShot || keys.own != nil: lastContent
        case .data where keys.own != nil: lastContent
        default: nil
        }
    }

    /// Reads everything again and checks it.
    ///
    /// - Parameter serviceHeader: The service's header, the asynchronous one included, as of now.
    /// - Throws: ``InvalidRequest``, and the errors of a body.
    mutating func build(
        _ request: some Request,
        to target: CallTarget,
        with serviceHeader: HttpHeader
    ) throws -> HttpRequest {
        let base = target.base
        var header = serviceHeader
        // Credentials go to the service's own origin only.
        if base.origin != target.service.origin { header = header.withoutSensitiveFields }
        header.merge(request.header)
        keys.keepOwn(in: &header)

        let content = try keptContent ?? content(of: request.body, request.encoder)
        lastContent = content
        let payload = content.payload
        if !payload.isEmpty {
            if header[.contentType] == nil { header[.contentType] = content.type }
            if header[.contentEncoding] == nil { header[.contentEncoding] = content.encoding }
        }

        var built = HttpRequest(
            method: request.method,
            url: try base.appending(request.route, query: request.query),
            // A route and a query lead to no other origin.
            origin: base.origin,
            header: header,
            body: payload,
            priority: request.priority
        )
        built.allowsBodyAcrossOrigins = request.allowsBodyAcrossOrigins
        try built.validate()
        (checkedHeader, builtOrigin) = (built.header, built.origin)
        keys.mark(&built)
        return built
    }

    /// Checks once more what the request became on its way: interceptors and the retrier may have stamped fields that
    /// no check has seen, a token with a line break. Its `Idempotency-Key` becomes that under which it was sent before.
    ///
    /// - Parameters:
    ///   - kind: The kind of request, as far as it is known.
    ///   - attempt: The number of the attempt.
    /// - Returns: Whether it is the attempt's own: the one that was built, changed perhaps on its way.
    /// - Throws: ``InvalidRequest``.
    mutating func finish(_ request: inout HttpRequest, _ kind: Kind, attempt: Int) throws(InvalidRequest) -> Bool {
        let isOwn = keys.finish(&request, kind, attempt: attempt)
        // An interceptor sends it elsewhere: fields for the service's own servers stay here.
        if request.origin != builtOrigin { request.header = request.header.leavingBehind(checkedHeader) }
        try request.validate(trusting: checkedHeader)
        return isOwn
    }

    private func content(of body: HttpBody, _ encoder: @autoclosure () -> JSONEncoder) throws -> Content {
        do {
            let payload = try body.payload(encoder)
            return Content(payload: payload, type: body.contentType, encoding: body.contentEncoding)
        } catch let error as EncodingError {
            throw InvalidRequest.bodyNotEncodable(at: error.path)
        } catch let error as HttpFileError {
            throw InvalidRequest.file(error)
        }
    }
}

extension HttpHeader {
    /// This header without the sensitive fields that it has in common with another one.
    fileprivate func leavingBehind(_ other: HttpHeader) -> HttpHeader {
        HttpHeader(fields.filter { !$0.name.isSensitive || !other.fields.contains($0) })
    }
}

extension EncodingError {
    fileprivate var path: String {
        guard case .invalidValue(_, let context) = self else { return [].place }
        return context.codingPath.place
    }
}
