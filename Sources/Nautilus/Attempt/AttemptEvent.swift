import Foundation

/// An event of an attempt that an interceptor cannot see: further in, or after the interceptor has returned.
///
/// An interceptor that keeps or shares answers gets these events by ``AttemptContext/follow(_:)``: the answer to its
/// `next` alone does not tell what was finally sent, or whether the answer was any good.
///
/// ```swift
/// let response = try await next(request)
/// remember(response, for: request)
/// context.follow { event in
///     // A page that is no answer of this API: a sign-in page of the train's network, say.
///     if case .failed(let error) = event, error.stage == .decode { forget(request) }
/// }
/// return response
/// ```
public enum AttemptEvent: Sendable {
    /// A request goes out, exactly as it is sent: with the changes of interceptors further in, and stamped by the
    /// retrier.
    ///
    /// Not sent for redirects, nor for the second send of a hedge, since they repeat the request. The role is `side`
    /// for any request but the attempt's own; followers of a side request get only that request's events.
    case sending(HttpRequest, CallTrace.Exchange.Role)
    /// The attempt has succeeded: its answer has been accepted and decoded.
    case succeeded
    /// The attempt has failed, at ``HttpError/stage``; the retrier is asked next. Stage `decode` means that the
    /// answer's status was accepted, but the request cannot read the answer.
    case failed(HttpError)
    /// The call has ended, and no attempt follows this one. For a side request: it has ended.
    case callEnded
}

/// The followers of an attempt or a side request.
struct AttemptFollowers: Sendable {
    typealias Handler = @Sendable (AttemptEvent) -> Void

    private var handlers: [Handler] = []

    var isEmpty: Bool { handlers.isEmpty }

    mutating func add(_ handler: @escaping Handler) {
        handlers.append(handler)
    }

    func tell(_ event: AttemptEvent) {
        for handler in handlers { handler(event) }
    }
}

/// An attempt under way, as its context sees it.
protocol OngoingAttempt: Sendable {
    /// Whether there is a real call, which can be made again.
    var isReal: Bool { get }
    var exchanges: [CallTrace.Exchange] { get }
    var isFollowed: Bool { get }
    /// Whether its interceptors have returned, so that nothing more is sent.
    var isOver: Bool { get }
    /// - Parameter depth: How many interceptors, from the outermost, the request skips.
    func send(_ request: HttpRequest, past depth: Int) async throws -> HttpResponse<Data>
    func callAgain() async
    func verdict(on response: HttpResponse<Data>) -> AnswerVerdict
    func follow(_ handler: @escaping AttemptFollowers.Handler)
    func tell(_ event: AttemptEvent)
}

/// The attempt of a context that a test has made.
struct AttemptOfATest: OngoingAttempt {
    let onSend: @Sendable (HttpRequest) async throws -> HttpResponse<Data>

    var isReal: Bool { false }
    var exchanges: [CallTrace.Exchange] { [] }
    var isFollowed: Bool { false }
    var isOver: Bool { false }
    func send(_ request: HttpRequest, past depth: Int) async throws -> HttpResponse<Data> { try await onSend(request) }
    func callAgain() async {}
    func verdict(on response: HttpResponse<Data>) -> AnswerVerdict { .taken }
    func follow(_ handler: @escaping AttemptFollowers.Handler) {}
    func tell(_ event: AttemptEvent) {}
}
