import Foundation

extension Call {
    /// Stage 2: the service's interceptors, the first outermost, around the exchange.
    func intercept(
        _ request: HttpRequest,
        _ context: AttemptContext,
        by interceptors: [any HttpInterceptor]
    ) async throws(HttpError) -> HttpResponse<Data> {
        recorder.willSend(request, serviceOrigin: context.serviceOrigin)
        let attempt = InterceptedAttempt(self, context, interceptors)
        turn = attempt.turn
        let outcome = await Result { () async throws(HttpError) in
            do {
                return try await attempt.proceed(with: request, context, past: 0) { request in
                    try await self.exchange(request, context)
                }
            } catch {
                throw self.failure(error, in: .intercept)
            }
        }
        await attempt.end()
        turn = nil
        return try outcome.get()
    }

    /// Stage 3: the retrier's last look before the wire.
    ///
    /// - Returns: The request as it goes out, and whether it is the attempt's own.
    func prepare(_ built: HttpRequest, _ context: AttemptContext) async throws(HttpError) -> (HttpRequest, isOwn: Bool)
    {
        await turn?.take()
        defer { turn?.give() }
        do {
            return try await stamp(built, context, isAside: false)
        } catch {
            recorder.willSend(built, serviceOrigin: context.serviceOrigin)
            throw failure(error, in: .prepare, delivery: .notSent)
        }
    }

    /// A request as it goes out.
    ///
    /// - Parameter isAside: Whether an interceptor says that it is not the attempt's own.
    fileprivate func stamp(
        _ built: HttpRequest,
        _ context: AttemptContext,
        isAside: Bool
    ) async throws -> (HttpRequest, isOwn: Bool) {
        var request = built
        try await retrier.prepare(&request, context: context)
        // Without interceptors there is no other.
        let kind: RequestBuilder.Kind = isAside ? .aside : turn == nil ? .own : .passedOn
        let isOwn = try builder.finish(&request, kind, attempt: context.number)
        CredentialWatch.current?.note(request)
        return (request, isOwn)
    }
}

/// An attempt while its interceptors run: what passes the request on to the next of them, and their side requests.
///
/// A side request is stamped by the call's own retrier, so that it belongs to the same session, and may be sent from any
/// task. So whatever is stamped takes its turn, and nothing else of the call is touched on a side request's way.
private final class InterceptedAttempt<R: Request, S: HttpService>: OngoingAttempt, @unchecked Sendable {
    // Unchecked: retrier and builder of the call are touched in turn, everything else of it that is used never changes.
    private let call: Call<R, S>
    private let context: AttemptContext
    private let interceptors: [any HttpInterceptor]
    private let isOver = Locked(false)
    let turn = Turn()

    init(_ call: Call<R, S>, _ context: AttemptContext, _ interceptors: [any HttpInterceptor]) {
        (self.call, self.context, self.interceptors) = (call, context, interceptors)
    }

    /// Passes a request on to the interceptors further in, and then to `exchange`.
    ///
    /// - Parameter depth: How many interceptors it has passed, or does not pass, from the outermost.
    func proceed(
        with request: HttpRequest,
        _ context: AttemptContext,
        past depth: Int,
        _ exchange: HttpInterceptor.Next
    ) async throws -> HttpResponse<Data> {
        guard depth < interceptors.count else { return try await exchange(request) }
        let inner = context.within(self, depth: depth + 1)
        return try await interceptors[depth].intercept(request, context: inner) { request in
            try await proceed(with: request, context, past: depth + 1, exchange)
        }
    }

    /// No side request begins any more, and none is being stamped.
    func end() async {
        isOver.withLock { $0 = true }
        await turn.take()
        turn.give()
    }

    var isReal: Bool { true }
    var exchanges: [CallTrace.Exchange] { call.book.exchanges() }

    func callAgain() async {
        await Call.callAgain(call.request, with: call.service)
    }

    func send(_ request: HttpRequest, past depth: Int) async throws -> HttpResponse<Data> {
        let context = context.aside
        return try await proceed(with: request, context, past: depth) { request in
            let context = context.preparing(self.call.book.takeNumber())
            let stamped = try await self.stamp(request, context)
            return try await self.call.sendAside(stamped, context)
        }
    }

    private func stamp(_ request: HttpRequest, _ context: AttemptContext) async throws -> HttpRequest {
        await turn.take()
        defer { turn.give() }
        guard !isOver.withLock({ $0 }) else { throw AttemptIsOver() }
        do {
            return try await call.stamp(request, context, isAside: true).0
        } catch {
            throw call.failureAside(error, in: .prepare, delivery: .notSent, of: request, context)
        }
    }
}

/// One at a time, in the order of their coming.
final class Turn: Sendable {
    private struct State {
        var isTaken = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    /// Returns when it is the caller's turn, which then has to be given back.
    func take() async {
        let isFree = state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
        if isFree { return }
        await withCheckedContinuation { waiter in
            let isFree = state.withLock { state in
                if state.isTaken { state.waiters.append(waiter) }
                defer { state.isTaken = true }
                return !state.isTaken
            }
            if isFree { waiter.resume() }
        }
    }

    func give() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            state.isTaken = false
            return nil
        }
        next?.resume()
    }
}
