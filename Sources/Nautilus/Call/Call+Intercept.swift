import Foundation

extension Call {
    /// Stage 2: the service's interceptors, the first outermost, around the exchange.
    func intercept(
        _ request: HttpRequest,
        _ context: AttemptContext,
        by interceptors: [any CallInterceptor]
    ) async throws(HttpError) -> HttpResponse<Data> {
        recorder.willSend(request, serviceOrigin: context.serviceOrigin)
        let attempt = InterceptedAttempt(self, context, interceptors)
        ongoing = attempt
        let outcome = await Result { () async throws(HttpError) in
            do {
                return try await attempt.proceed(with: request, context, past: 0) { request in
                    try await self.exchange(request, context)
                }
            } catch is CancellationError {
                // An interceptor that only waits has sent nothing; the book knows what was sent before or besides.
                throw self.failure(CancellationError(), in: .intercept, delivery: .notSent)
            } catch {
                // So has one that fails by itself.
                throw self.failure(error, in: .intercept, delivery: .notSent)
            }
        }
        attempt.end()
        return try outcome.get()
    }
}

/// An attempt while its interceptors run: passes the request on from one to the next, and makes their side requests.
private final class InterceptedAttempt<R: Request>: OngoingAttempt, @unchecked Sendable {
    // Unchecked: the call's builder is touched under the lock and before the attempt's end; the rest of it never changes.
    private let call: Call<R>
    private let context: AttemptContext
    private let interceptors: [any CallInterceptor]
    private let state = Locked(State())

    private struct State: Sendable {
        /// Whether the interceptors have returned.
        var isOver = false
        /// How many side requests the attempt has made.
        var sideRequests = 0
        var followers = AttemptFollowers()
    }

    init(_ call: Call<R>, _ context: AttemptContext, _ interceptors: [any CallInterceptor]) {
        (self.call, self.context, self.interceptors) = (call, context, interceptors)
    }

    /// Passes a request on to the interceptors further in, and then to `exchange`.
    ///
    /// - Parameters:
    ///   - depth: How many interceptors, from the outermost, the request has passed or skips.
    ///   - ongoing: The side request that is passed on; nil for the attempt's own request.
    func proceed(
        with request: HttpRequest,
        _ context: AttemptContext,
        past depth: Int,
        asPartOf ongoing: (any OngoingAttempt)? = nil,
        _ exchange: CallInterceptor.Next
    ) async throws -> HttpResponse<Data> {
        guard depth < interceptors.count else { return try await exchange(request) }
        let inner = context.within(ongoing ?? self, depth: depth + 1)
        return try await interceptors[depth].intercept(request, context: inner) { passedOn in
            var next = passedOn.hidingSecrets(of: request)
            if ongoing == nil, next.header[.idempotencyKey] != nil {
                state.withLock { state in
                    if !state.isOver { call.builder.keepKey(in: &next) }
                }
            }
            return try await proceed(with: next, context, past: depth + 1, asPartOf: ongoing, exchange)
        }
    }

    /// Ends the attempt: no side request begins from now on, and none that is being stamped touches the call.
    func end() {
        state.withLock { $0.isOver = true }
    }

    var isReal: Bool { true }
    var exchanges: [CallTrace.Exchange] { call.book.exchanges() }
    var isFollowed: Bool { state.withLock { !$0.followers.isEmpty } }
    var isOver: Bool { state.withLock { $0.isOver } }

    func callAgain() async {
        await call.bound.continued(with: call.request).runAgain()
    }

    func verdict(on response: HttpResponse<Data>) -> AnswerVerdict {
        call.constants.verdict(on: response, accepting: context.acceptedStatusCodes)
    }

    func follow(_ handler: @escaping AttemptFollowers.Handler) {
        state.withLock { state in
            if !state.isOver { state.followers.add(handler) }
        }
    }

    func tell(_ event: AttemptEvent) {
        let followers = state.withLock { state in
            // Releases the followers: a handler may hold an object that holds the attempt.
            defer { if case .callEnded = event { state.followers = AttemptFollowers() } }
            return state.followers
        }
        followers.tell(event)
    }

    func send(_ request: HttpRequest, past depth: Int) async throws -> HttpResponse<Data> {
        let number = state.withLock { state in
            state.sideRequests += 1
            return state.sideRequests
        }
        let (context, side) = (context.aside(number), SideRequest(of: self))
        defer { side.end() }
        let request = request.withoutKey(try whileItGoesOn { call.builder.key })
        return try await proceed(with: request, context, past: depth, asPartOf: side) { request in
            let path = try self.whileItGoesOn { self.call.path(as: .side, telling: side) }
            return try await self.call.sendAside(request, context, along: path)
        }
    }

    private func whileItGoesOn<Value>(_ body: () throws -> Value) throws -> Value {
        var outcome: Result<Value, any Error> = .failure(AttemptIsOver())
        state.withLock { state in
            if !state.isOver { outcome = Result { try body() } }
        }
        return try outcome.get()
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

    /// This request without its key if that is the key of the call's own request, which a side request must not have.
    fileprivate func withoutKey(_ own: String?) -> HttpRequest {
        guard let own, header[.idempotencyKey] == own else { return self }
        var request = self
        request.header[.idempotencyKey] = nil
        return request
    }
}

/// A side request on its way: its own followers follow only it, the attempt's followers follow both.
private final class SideRequest: OngoingAttempt {
    private let attempt: any OngoingAttempt
    private let followers = Locked(AttemptFollowers())

    init(of attempt: any OngoingAttempt) {
        self.attempt = attempt
    }

    var isReal: Bool { attempt.isReal }
    var exchanges: [CallTrace.Exchange] { attempt.exchanges }
    var isFollowed: Bool { followers.withLock { !$0.isEmpty } }
    var isOver: Bool { attempt.isOver }

    func send(_ request: HttpRequest, past depth: Int) async throws -> HttpResponse<Data> {
        try await attempt.send(request, past: depth)
    }

    func callAgain() async {
        await attempt.callAgain()
    }

    func verdict(on response: HttpResponse<Data>) -> AnswerVerdict { .taken }

    func follow(_ handler: @escaping AttemptFollowers.Handler) {
        followers.withLock { $0.add(handler) }
    }

    func tell(_ event: AttemptEvent) {
        followers.withLock { $0 }.tell(event)
        attempt.tell(event)
    }

    func end() {
        followers.withLock { followers in
            defer { followers = AttemptFollowers() }
            return followers
        }.tell(.callEnded)
    }
}
