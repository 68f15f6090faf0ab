import Foundation

extension Call {
    /// Stage 2: the call interceptors, the first outermost, around all attempts.
    ///
    /// An answer that they give in place of one to a request of this call, such as a stored or a shared one, is read by this
    /// call's request. If that cannot read it, the call asks for itself, unless it has sent something that may have changed
    /// something.
    func throughCallTier() async throws(HttpError) -> (HttpResponse<Data>, any Sendable) {
        let (built, context) = try await repeating { () async throws(HttpError) in try await self.build() }
        (begun, firstBuilt) = (context, built)
        recorder.willSend(built, serviceOrigin: context.serviceOrigin)
        var isAskedAgain = false
        while true {
            var response = try await descend(with: built, context)
            response.hideSecrets(of: built)
            if let result = ownResult(of: response) { return (response, result) }
            // Nothing of a user is given to one who has left.
            if let end = sessions.end { throw recorder.surfacing(failure(end, in: .intercept, delivery: .notSent)) }
            do throws(HttpError) {
                return (response, try await foreignResult(of: &response))
            } catch {
                let isAboutReading = error.stage == .decode || response.isReclassified
                guard mayShare, isAboutReading, !hasSentChange else {
                    throw recorder.surfacing(error)
                }
                // A shared answer that others can read; the next one may be that of a call which reads as this one does.
                let isShared = response.exchange.map { $0.call != scope.id } ?? false
                isAskedAgain = isShared && !isAskedAgain
                mayShare = isAskedAgain
            }
        }
    }

    /// Passes a request on to the interceptors, and then to the attempts.
    private func descend(
        with request: HttpRequest,
        _ context: AttemptContext
    ) async throws(HttpError) -> HttpResponse<Data> {
        do {
            return try await proceed(with: request, context, past: 0)
        } catch {
            // An interceptor that fails by itself has sent nothing; the book knows what was sent.
            throw failure(error, in: .intercept, delivery: .notSent)
        }
    }

    private func proceed(
        with request: HttpRequest,
        _ context: AttemptContext,
        past depth: Int
    ) async throws -> HttpResponse<Data> {
        guard depth < interceptors.count else { return try await attempts(of: request) }
        let next = CallContext.Next { passedOn, terms in
            var passedOn = passedOn.hidingSecrets(of: request)
            if passedOn.header[.idempotencyKey] != nil { self.builder.keepKey(in: &passedOn) }
            let outer = self.terms
            defer { self.terms = outer }
            self.terms = terms.within(outer)
            return try await self.proceed(with: passedOn, context, past: depth + 1)
        }
        let inner = CallContext(self, context, mayShare: mayShare, depth: depth)
        return try await interceptors[depth].intercept(request, context: inner, next: next)
    }

    /// Makes attempts with a request that the call tier has passed on. What it has changed is changed in each of them.
    private func attempts(of passed: HttpRequest) async throws(HttpError) -> HttpResponse<Data> {
        let change = firstBuilt.flatMap { RequestChange(from: $0, to: passed) }
        passedBody = change?.body
        if !passed.method.isSafe { hasSentChange = true }
        return try await repeating { () async throws(HttpError) in
            var (request, context): (HttpRequest, AttemptContext)
            if let begun = self.begun.take() {
                (request, context) = (passed, begun)
            } else {
                self.recorder.endAnswered()
                (request, context) = try await self.build()
                change?.apply(to: &request)
            }
            let (response, result) = try await self.attempt(request, context)
            self.recorder.answered(response.status, by: response.exchange)
            self.decoded = result is Unread ? nil : response.exchange.map { ($0.number, result) }
            return response
        }
    }

    /// The result of the answer, if it is the last that this call has decoded.
    private func ownResult(of response: HttpResponse<Data>) -> (any Sendable)? {
        guard let decoded, let exchange = response.exchange, exchange.call == scope.id,
            exchange.number == decoded.exchange
        else { return nil }
        return decoded.result
    }

    /// The result of an answer that is not this call's own, or that an interceptor has made.
    private func foreignResult(of response: inout HttpResponse<Data>) async throws(HttpError) -> any Sendable {
        if !request.streamsResponse, !response.isReclassified { response.count(as: bound.status(of: response)) }
        return try await result(of: response)
    }
}

extension Call: CallPath {
    var isAnonymous: Bool { bound.configuration.makesAnonymous(request) }
    var sharingKey: SharingKey? {
        let maxAttempts = bound.configuration.maxAttempts
        return bound.configuration.factory(for: request).sharingKey.map { SharingKey([$0, SharingKey(maxAttempts)]) }
    }
    var again: (@Sendable () async -> Void)? {
        { [bound, request] in await bound.continued(with: request).runAgain() }
    }

    var hasRunOutOfTime: Bool { recorder.hasRunOutOfTime }
    var hasLostAnswer: Bool { recorder.hasLostAnswer }

    func account(at depth: Int) -> String? { bound.account(of: depth) }

    func sendSubrequest(_ request: HttpRequest, _ context: AttemptContext) async throws -> HttpResponse<Data> {
        subrequests += 1
        if !request.method.isSafe { hasSentChange = true }
        let context = context.forSubrequest(subrequests)
        do {
            return try await path(as: .subrequest).send(request.withoutKey(builder.key), context)
        } catch {
            throw subrequestFailure(error, in: .intercept, delivery: .notSent, of: request, context)
        }
    }
}

extension HttpRequest {
    /// This request, passed on by an interceptor in place of `given`: what the call's route has marked as secret is in a
    /// URL that was made of its own, too.
    func hidingSecrets(of given: HttpRequest) -> HttpRequest {
        guard !given.pathSecrets.isEmpty, pathSecrets.isEmpty else { return self }
        var request = self
        request.pathSecrets = given.pathSecrets
        return request
    }

    /// This request without its key if that is the key of the call's own request, which a subrequest must not have.
    fileprivate func withoutKey(_ own: String?) -> HttpRequest {
        guard let own, header[.idempotencyKey] == own else { return self }
        var request = self
        request.header[.idempotencyKey] = nil
        return request
    }
}

/// The changes that the call tier has made to a request, for attempts that are built anew.
struct RequestChange {
    private let base: HttpRequest
    private let passed: HttpRequest

    /// Nil when nothing has been changed.
    init?(from base: HttpRequest, to passed: HttpRequest) {
        let isSame =
            base.method == passed.method && base.url == passed.url && base.header == passed.header
            && base.priority == passed.priority && !passed.body.isAnother(than: base.body)
            && base.allowsBodyAcrossOrigins == passed.allowsBodyAcrossOrigins
        if isSame { return nil }
        (self.base, self.passed) = (base, passed)
    }

    /// The body that is another one; nil if it is the same.
    var body: HttpBody.Payload? { passed.body.isAnother(than: base.body) ? passed.body : nil }

    func apply(to request: inout HttpRequest) {
        if base.method != passed.method { request.method = passed.method }
        if base.url != passed.url { request.url = passed.url }
        if let body { request.body = body }
        if base.priority != passed.priority { request.priority = passed.priority }
        request.allowsBodyAcrossOrigins = passed.allowsBodyAcrossOrigins
        for field in base.header.fields where passed.header[field.name] == nil { request.header[field.name] = nil }
        for name in Set(passed.header.fields.map(\.name)) {
            let values = passed.header.values(of: name)
            guard values != base.header.values(of: name) else { continue }
            request.header[name] = nil
            for value in values { request.header.add(value, to: name) }
        }
    }
}

extension HttpBody.Payload {
    /// Whether these are other bytes, or another stream.
    fileprivate func isAnother(than given: HttpBody.Payload) -> Bool {
        if case .stream(let own) = self, case .stream(let other) = given { return own !== other }
        return isOther(than: given)
    }
}
