/// An event of an attempt outside of an interceptor's sight: further in, or after the interceptor has returned.
///
/// An interceptor that keeps or shares answers follows it by ``AttemptContext/follow(_:)``: from the answer to its
/// `next` alone it cannot tell what went on the wire in the end, nor whether the answer was any good.
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
    /// A request goes out, as it is on the wire: with the changes of interceptors further in, and stamped by the
    /// retrier.
    ///
    /// Not told of redirects, nor of a second send: they repeat it. The role is `side` for any but the attempt's own
    /// request; those that follow a side request are told of that alone.
    case sending(HttpRequest, CallTrace.Exchange.Role)
    /// The attempt has succeeded: its answer has been accepted and decoded.
    case succeeded
    /// The attempt has failed, at ``HttpError/stage``; the retrier is asked next. Stage `decode` means that the answer was
    /// accepted, and is none that this request understands.
    case failed(HttpError)
    /// The call has ended: no attempt follows this one. A side request has its answer.
    case callEnded
}

/// Those that follow an attempt or a side request.
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
