import Foundation

/// The path of a call after its hook, from a request to its decoded result or its last real failure.
///
/// This file holds the path and its beginning; each stage has a file of its own beside it. A call belongs to one task:
/// neither it nor its retrier is ever shared. It is a class, since copying it from stage to stage would cost more than
/// the stages do.
final class Call<R: Request> {
    let clock: any Clock<Duration>
    /// How long the call may take: the request's own limit, or what the enclosing call has left; nil for no limit.
    let deadline: Duration?
    /// The coders for what outlives the call, its error or a stream; nil for the standard ones.
    let carriedCoders: JsonCoders.Carried?
    /// The scope that marks everything done for the call.
    let scope: CallScope
    /// The book that holds a record of each exchange.
    let book: ExchangeBook
    var retrier: any Retrier
    var builder = RequestBuilder()
    var recorder: TraceRecorder
    /// The last cost paid from each budget.
    var paid: [RetryCost] = []
    /// Whether the call opens the next connection of a stream, which decides itself on another attempt.
    let isReconnect: Bool
    /// The request of the last attempt; nil before there is one.
    var lastBuilt: HttpRequest?
    /// The terms that the call tier has set for the attempts within.
    var terms = AttemptTerms()
    /// The attempt that has been begun for the call tier, and whose request has not been sent yet; nil for none.
    var begun: AttemptContext?
    /// The request that the call tier has seen; nil without one.
    var firstBuilt: HttpRequest?
    /// The last answer that was decoded, and its result; nil for none.
    var decoded: (exchange: Int, result: any Sendable)?
    /// The server's last answer, kept for the call tier; nil for none.
    var lastAnswer: HttpResponse<Data>?
    /// How many subrequests its interceptors have made.
    var subrequests = 0
    /// Whether an answer is welcome that is not to a request of this call.
    var mayShare = true
    /// Whether the call tier has sent a request that may change something.
    var hasSentChange = false
    /// The body that the call tier has put in the place of the request's own; nil for none.
    var passedBody: HttpBody.Payload?
    /// The binding that the call goes by until its end.
    let bound: CallBinding<R>

    init(_ bound: CallBinding<R>, _ scope: CallScope, isReconnect: Bool) {
        let observer = bound.configuration.observer
        let enabledObserver = observer.isEnabled ? observer : nil
        self.clock = bound.configuration.clock
        self.deadline = scope.deadline
        self.scope = scope
        self.book = ExchangeBook(scope.identity, stopwatch: scope.stopwatch, observer: enabledObserver)
        self.carriedCoders = bound.configuration.coders.carried
        self.isReconnect = isReconnect
        self.retrier = bound.retrier
        self.recorder = TraceRecorder(book, observer: enabledObserver)
        self.bound = bound
    }

    var request: R { bound.request }
    var interceptors: [any CallInterceptor] { bound.tiers.call }
    var transport: any HttpTransport { bound.configuration.transport }
    /// The sessions that the call belongs to.
    var sessions: [CallSession] { bound.sessions.list }
    var coders: JsonCoders { bound.configuration.coders }

    /// Runs the call.
    func run() async throws(HttpError) -> CallOutcome {
        do throws(HttpError) {
            var (response, result) = interceptors.isEmpty ? try await attempts() : try await throughCallTier()
            succeeded(by: &response)
            return CallOutcome(response: response, result: result)
        } catch {
            throw recorder.failed(error)
        }
    }

    /// Makes attempts, one after the other, until one succeeds or a failure surfaces.
    private func attempts() async throws(HttpError) -> (HttpResponse<Data>, any Sendable) {
        try await repeating { () async throws(HttpError) in
            let (built, context) = try await self.build()  // 1
            return try await self.attempt(built, context)
        }
    }

    /// Does something again and again until it succeeds or its failure surfaces.
    ///
    /// - Throws: The failure, which is in the trace.
    func repeating<Value>(_ attempt: () async throws(HttpError) -> Value) async throws(HttpError) -> Value {
        while true {
            do throws(HttpError) {
                return try await attempt()
            } catch {
                if terms.surfaces?(error) == true { throw recorder.surfacing(error) }
                let retry = try await decideOnRetry(after: error)
                try pay(for: retry, after: error)
                recorder.willRetry(after: error, retry.decision)
                try await sleep(for: retry.delay, after: error)
                try await passGate(after: error)
            }
        }
    }

    /// Makes one attempt: one pass along the path.
    func attempt(
        _ built: HttpRequest,
        _ context: AttemptContext
    ) async throws(HttpError) -> (HttpResponse<Data>, any Sendable) {
        var response = try await exchange(built, context)  // 3 to 6
        response.hideSecrets(of: built)
        if !interceptors.isEmpty { lastAnswer = response }
        // The call tier reads it itself.
        if terms.accepted.contains(response.status) { return (response, Unread()) }
        return (response, try await result(of: response))
    }

    /// Stages 7 and 8.
    func result(of response: HttpResponse<Data>) async throws(HttpError) -> any Sendable {
        try validate(response)
        return request.streamsResponse ? try await decodeStream(of: response) : try decode(response)
    }
}

/// The result of an answer that the call's request has not read.
struct Unread: Sendable {}
