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
    var payment = RetryPayment()
    /// Whether the call opens the next connection of a stream, which decides itself on another attempt.
    let isReconnect: Bool
    /// The request of the last attempt; nil before there is one.
    var lastBuilt: HttpRequest?
    /// The attempt, for its followers; nil without interceptors.
    var ongoing: (any OngoingAttempt)?
    /// The earlier attempts whose followers still wait for the end of the call.
    private var earlier: [any OngoingAttempt] = []
    // Generic properties come last: any property behind them has no fixed offset.
    /// The parts of the call that never change.
    let constants: CallConstants<R>
    /// The binding, which stays the same until the call's end.
    let bound: CallBinding<R>

    init(_ bound: CallBinding<R>, _ constants: CallConstants<R>, _ scope: CallScope, isReconnect: Bool) {
        let configuration = bound.configuration
        let observer = configuration.observer
        let enabledObserver = observer.isEnabled ? observer : nil
        self.clock = configuration.clock
        self.deadline = scope.deadline
        self.scope = scope
        self.book = ExchangeBook(CallIdentity(scope), stopwatch: scope.stopwatch, observer: enabledObserver)
        self.carriedCoders = constants.coders.carried
        self.constants = constants
        self.isReconnect = isReconnect
        self.retrier = bound.retrier
        self.recorder = TraceRecorder(book, observer: enabledObserver)
        self.bound = bound
    }

    var request: R { bound.request }
    var configuration: ServiceConfiguration { bound.configuration }
    var interceptors: [any CallInterceptor] { bound.tiers.call }
    var transport: any HttpTransport { bound.configuration.transport }
    /// The sessions that the call belongs to.
    var sessions: [CallSession] { bound.sessions.list }
    var coders: JsonCoders { constants.coders }

    /// Makes attempts, one after the other, until one succeeds or a failure surfaces.
    func run() async throws(HttpError) -> CallOutcome {
        defer { tellEnd() }
        while true {
            do throws(HttpError) {
                var (response, result) = try await attempt()
                ongoing?.tell(.succeeded)
                succeeded(by: &response)
                return CallOutcome(response: response, result: result)
            } catch {
                ongoing?.tell(.failed(error))
                let delay = try await delay(after: error)
                try await sleep(for: delay, after: error)
                try await passGate(after: error)
            }
        }
    }

    /// Reports the end of the call to the attempts' followers, and releases the attempts, since each holds its call.
    private func tellEnd() {
        for attempt in earlier { attempt.tell(.callEnded) }
        ongoing?.tell(.callEnded)
        (earlier, ongoing) = ([], nil)
    }

    /// Makes one attempt: one pass along the path.
    private func attempt() async throws(HttpError) -> (HttpResponse<Data>, any Sendable) {
        if let last = ongoing.take(), last.isFollowed { earlier.append(last) }
        let (built, context) = try await build()  // 1
        var response =
            if interceptors.isEmpty {
                try await exchange(built, context)
            } else {
                try await intercept(built, context, by: interceptors)  // 2, around 3 to 5
            }
        response.hideSecrets(of: built)
        // An answer that an interceptor has supplied or changed, such as a decrypted one, may say something else.
        if !interceptors.isEmpty, !request.streamsResponse, !response.isReclassified {
            response.count(as: constants.status(of: response))
        }
        try validate(response)  // 6
        // 7
        if request.streamsResponse { return (response, try await decodeStream(of: response)) }
        return (response, try decode(response))
    }
}

/// The parts of a call that never change, so that its exchanges, in whatever task, and the calls within it may use them.
final class CallConstants<R: Request>: Sendable {
    let request: R
    /// How the service writes and reads JSON.
    let coders: JsonCoders
    /// The service's own field that says how long to wait; nil for none.
    let retryAfterField: RetryAfterField?

    init(_ request: R, _ coders: JsonCoders, retryAfterField: RetryAfterField? = nil) {
        (self.request, self.coders, self.retryAfterField) = (request, coders, retryAfterField)
    }
}
