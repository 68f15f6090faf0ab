import Foundation

/// Wraps every attempt of every call of a service: signs, logs, caches, measures.
///
/// ```swift
/// struct RequestId: HttpInterceptor {
///     func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
///         var request = request
///         request.header["X-Request-Id"] = UUID().uuidString
///         return try await next(request)
///     }
/// }
/// ```
/// Shared by all calls, so it is stateless or guards its own state. The response has not been validated and may have
/// any status. Whether it could be decoded, and what was finally sent, is reported by ``AttemptContext/follow(_:)``.
///
/// When an interceptor sends a request to another origin, fields set by the service or the request stay behind if their
/// names are sensitive (``HttpHeader/Name/isSensitive``), such as `Cookie` or `X-Api-Key`; a sensitive field with a
/// different value goes along.
public protocol HttpInterceptor: ServicePart {
    /// The rest of the path: the interceptors further in, then the credential, the exchange and its redirects.
    ///
    /// Not `Sendable` by design: it leads to the call's own retrier, so it must be called in the call's task, one call
    /// after the other.
    typealias Next = (HttpRequest) async throws -> HttpResponse<Data>

    /// Handles one attempt: calls `next` once, or not at all (to answer by itself), or repeatedly (to retry by itself).
    ///
    /// - Throws: Any error; it becomes the attempt's failure. An error of `next` is the framework's and keeps its kind,
    ///   as do errors of URL loading and cancellations; any other error becomes kind `custom`, and lies underneath.
    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data>

    /// Decides whether a request that it has let through may be sent a second time now, and takes a place for the
    /// second send.
    ///
    /// Every interceptor of the service is asked before a slow attempt is hedged (``Hedging``), from any task. The
    /// second send is made further in than all interceptors, so they see one request and one answer; that is why
    /// interceptors that hold requests back have to be asked. The second send never waits: either it goes at once, and
    /// counts like another request, or it is not made. Default: it may be sent.
    ///
    /// - Parameters:
    ///   - request: The request as it is sent, with the fields of interceptors further in and of the retrier.
    ///   - context: The attempt's context.
    func admitSecondSend(of request: HttpRequest, context: AttemptContext) -> SecondSend

    /// Looks again at a request that it has let through, and that has waited for its credential since then: waits or
    /// throws, as it would if the request came now.
    ///
    /// This keeps a crowd that has waited for one refresh from leaving at the same moment. Every interceptor of the
    /// service is asked, the outermost first, while its ``intercept(_:context:next:)`` still waits for the answer to
    /// this request. Default: nothing.
    ///
    /// - Parameters:
    ///   - request: The request as the interceptors have passed it on, without the fields of the retrier.
    ///   - context: The attempt's context.
    /// - Throws: Any error; it becomes the attempt's failure, and nothing is sent.
    func readmit(_ request: HttpRequest, context: AttemptContext) async throws

    /// Notes that a request that it has let through goes out now.
    ///
    /// Since then, interceptors further in and the retrier have had it. One that counts requests by their time, as the
    /// server does, counts this one from here. Not called for redirects, nor for second sends, which go as soon as they
    /// are admitted. Called synchronously, from any task: return at once. Default: nothing.
    ///
    /// - Parameters:
    ///   - request: The request as the interceptors have passed it on, without the fields of the retrier.
    ///   - context: The attempt's context.
    func willSend(_ request: HttpRequest, context: AttemptContext)

    /// The interceptor's place among the others, for `HttpService.diagnose()`. Default: anywhere.
    var place: InterceptorPlace { get }

    /// Whether it adds an `Idempotency-Key` to every request that is not idempotent, so that the request may be
    /// repeated; for `HttpService.diagnose()`. Default: false.
    var addsIdempotencyKeys: Bool { get }
}

extension HttpInterceptor {
    /// Admits the second send.
    public func admitSecondSend(of request: HttpRequest, context: AttemptContext) -> SecondSend { .admitted() }
    /// Does nothing.
    public func readmit(_ request: HttpRequest, context: AttemptContext) async throws {}
    /// Does nothing.
    public func willSend(_ request: HttpRequest, context: AttemptContext) {}
    /// Returns ``InterceptorPlace/anywhere``.
    public var place: InterceptorPlace { .anywhere }
    /// Returns false.
    public var addsIdempotencyKeys: Bool { false }
}

/// An interceptor's answer to whether a request may be sent a second time.
public enum SecondSend: Sendable {
    /// The second send may be made.
    ///
    /// - Parameter atEnd: Gives back what the second send has taken: called once, when it has ended, or when it is not
    ///   made after all. If it has won, called when the first send has ended as well, which may be after the attempt.
    ///   Default: nil, nothing was taken.
    case admitted(atEnd: (@Sendable () -> Void)? = nil)
    /// The second send is not made, since another request would be held back.
    case refused
}

/// Where an interceptor belongs among the others of its service; `HttpService.diagnose()` uses it to find interceptors
/// in the wrong order.
///
/// A custom interceptor that does the same as one of these can declare its place, and is checked in the same way:
/// ```swift
/// final class DailyQuota: HttpInterceptor {
///     var place: InterceptorPlace { .waitingForServer }
///     func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
///         try await next(request)
///     }
/// }
/// ```
public struct InterceptorPlace: Hashable, Sendable {
    /// The order: smaller ranks belong further out; nil when the place does not matter.
    private let rank: Int?
    /// Why interceptors that belong further out must not be placed inside of this one.
    let reason: String

    private init(_ rank: Int?, because reason: String) {
        (self.rank, self.reason) = (rank, reason)
    }

    /// Anywhere: it changes requests or answers, and holds nothing back. The default.
    public static let anywhere = InterceptorPlace(nil, because: "")
    /// It answers from a store, in place of the server.
    public static let storing = InterceptorPlace(1, because: "it sees what the caller asks for")
    /// It combines several exchanges into one.
    public static let sharing = InterceptorPlace(2, because: "what is stored needs no exchange that could be shared")
    /// It makes requests wait until others end, as `ConcurrencyLimit` does.
    public static let waitingForOthers = InterceptorPlace(3, because: "what needs no exchange of its own needs no slot")
    /// It makes requests wait for a time that the server sets, as `Pacing` does.
    public static let waitingForServer = InterceptorPlace(
        4,
        because: "while a request waits for something else, the server may ask for a pause, which has to count"
    )
    /// It refuses requests at once, as `CircuitBreaker` does.
    public static let refusing = InterceptorPlace(
        5,
        because: "a request that has waited must still be held back when the circuit has opened meanwhile"
    )
    /// It tells the server how much time is left, as ``RequestTimeoutHeader`` does.
    public static let tellingTime = InterceptorPlace(
        5,
        because: "what is waited for before the header is made is then subtracted"
    )
    /// It corrects the status of answers, as ``StatusCorrection`` does.
    public static let correctingStatus = InterceptorPlace(6, because: "it has to see the corrected status")
    /// It imitates the network, as `Chaos` does.
    public static let network = InterceptorPlace(6, because: "its trouble has to look like the network's")

    /// Whether an interceptor of this place belongs outside of one of the place `other`.
    func isOutside(of other: InterceptorPlace) -> Bool {
        guard let rank, let otherRank = other.rank else { return false }
        return rank < otherRank
    }
}

extension Collection where Element == any HttpInterceptor {
    /// Asks all interceptors, and takes nothing unless all admit the second send.
    ///
    /// - Returns: A closure that gives everything back; or the type of the interceptor that would hold the send back.
    func admitSecondSend(
        of request: HttpRequest,
        context: AttemptContext
    ) -> Result<@Sendable () -> Void, SecondSendRefusal> {
        var ends: [@Sendable () -> Void] = []
        for interceptor in self {
            switch interceptor.admitSecondSend(of: request, context: context) {
            case .admitted(let atEnd):
                if let atEnd { ends.append(atEnd) }
            case .refused:
                for end in ends.reversed() { end() }
                return .failure(SecondSendRefusal(interceptor: "\(type(of: interceptor))"))
            }
        }
        return .success { [ends] in for end in ends.reversed() { end() } }
    }
}

/// A refusal by an interceptor that would hold a second send back.
struct SecondSendRefusal: Error {
    let interceptor: String
}
