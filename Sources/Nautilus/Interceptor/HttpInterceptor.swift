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
/// Shared by all calls and stateless, or guarding its own state. The response has not been validated: any status.
/// Whether it could be decoded, and what went on the wire in the end, is told by ``AttemptContext/follow(_:)``.
///
/// A request to another origin leaves behind the fields of the service and of the request whose name is sensitive
/// (``HttpHeader/Name/isSensitive``), such as `Cookie` or `X-Api-Key`; one with another value there goes along.
public protocol HttpInterceptor: ServicePart {
    /// The rest of the path: the interceptors further in, then the credential, the exchange and its redirects.
    ///
    /// Not `Sendable` by design: it leads to the call's own retrier, so it is called in the call's task,
    /// one call after the other.
    typealias Next = (HttpRequest) async throws -> HttpResponse<Data>

    /// Handles one attempt: calls `next` once, not at all (it answers itself), or again (it retries by itself).
    ///
    /// - Throws: Any error; it becomes the attempt's failure. An error of `next` is the framework's and keeps its kind,
    ///   like errors of URL loading and cancellations; an error of your own becomes kind `custom`, and lies underneath.
    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data>

    /// Says whether a request that it has let through may be sent a second time now, and takes a place for the second
    /// send.
    ///
    /// Asked before a slow attempt is hedged (``Hedging``), of every interceptor of the service, from any task. Interceptors
    /// see one request and one answer, since the second send is made further in than all of them; so one that holds requests
    /// back has to be asked. The second send never waits: it goes at once as another request would, and counts as one, or it
    /// is not made. Default: it may.
    ///
    /// - Parameters:
    ///   - request: As it is sent, with the fields of interceptors further in and of the retrier.
    ///   - context: The attempt's.
    func admitSecondSend(of request: HttpRequest, context: AttemptContext) -> SecondSend

    /// Looks once more at a request that it has let through, and that has waited for its credential since: waits, or throws,
    /// as it would if the request came now.
    ///
    /// So that a crowd that has waited for one refresh does not leave at the same moment. Asked of every interceptor of
    /// the service, the outermost first, while the request's own ``intercept(_:context:next:)`` waits further out.
    /// Default: nothing.
    ///
    /// - Parameters:
    ///   - request: As it came to the interceptors, without the fields of the retrier.
    ///   - context: The attempt's.
    /// - Throws: Any error; it is the attempt's failure, and nothing is sent.
    func readmit(_ request: HttpRequest, context: AttemptContext) async throws

    /// Where it belongs among the others, for `HttpService.diagnose()`. Default: anywhere.
    var place: InterceptorPlace { get }

    /// Whether it gives every request that is not idempotent an `Idempotency-Key`, so that it may be sent again, for
    /// `HttpService.diagnose()`. Default: false.
    var addsIdempotencyKeys: Bool { get }
}

extension HttpInterceptor {
    /// It may.
    public func admitSecondSend(of request: HttpRequest, context: AttemptContext) -> SecondSend { .admitted() }
    /// Nothing.
    public func readmit(_ request: HttpRequest, context: AttemptContext) async throws {}
    /// Anywhere.
    public var place: InterceptorPlace { .anywhere }
    /// False.
    public var addsIdempotencyKeys: Bool { false }
}

/// An interceptor's answer when a request is to be sent a second time.
public enum SecondSend: Sendable {
    /// It may go.
    ///
    /// - Parameter atEnd: Gives back what the second send has taken: called once, when it has ended, or when it is not
    ///   made after all. Default: nil, nothing was taken.
    case admitted(atEnd: (@Sendable () -> Void)? = nil)
    /// Another request would be held back, and so it is not made.
    case refused
}

/// Where an interceptor belongs among the others of its service; by it `HttpService.diagnose()` finds those that stand in
/// the wrong order.
///
/// One of your own that does the same as one of these says so, and is looked at in the same way:
/// ```swift
/// final class DailyQuota: HttpInterceptor {
///     var place: InterceptorPlace { .waitingForServer }
///     func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
///         try await next(request)
///     }
/// }
/// ```
public struct InterceptorPlace: Hashable, Sendable {
    /// The smaller, the further out; nil where it does not matter.
    private let rank: Int?
    /// Why nothing that belongs further out may stand within.
    let reason: String

    private init(_ rank: Int?, because reason: String) {
        (self.rank, self.reason) = (rank, reason)
    }

    /// Anywhere: it changes requests or answers, and holds nothing back. The default.
    public static let anywhere = InterceptorPlace(nil, because: "")
    /// It answers in place of the server, from a store.
    public static let storing = InterceptorPlace(1, because: "it sees what the caller asks for")
    /// It makes one exchange of several.
    public static let sharing = InterceptorPlace(2, because: "what is stored needs no exchange that could be shared")
    /// It has requests wait for others to end, as `ConcurrencyLimit` does.
    public static let waitingForOthers = InterceptorPlace(3, because: "what needs no exchange of its own needs no slot")
    /// It has requests wait for the server's time, as `Pacing` does.
    public static let waitingForServer = InterceptorPlace(
        4,
        because: "while a request waits for something else, the server may ask for patience, and has to be heeded"
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
    /// It stands for the network, as `Chaos` does.
    public static let network = InterceptorPlace(6, because: "its trouble has to look like the network's")

    /// Whether one of this place has to stand outside of one of `other`.
    func isOutside(of other: InterceptorPlace) -> Bool {
        guard let rank, let otherRank = other.rank else { return false }
        return rank < otherRank
    }
}

extension Collection where Element == any HttpInterceptor {
    /// Asks all of them, and takes nothing unless all let it go.
    ///
    /// - Returns: The closure that gives everything back; or the type of the one that would hold it back.
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

/// The interceptor that would hold a second send back.
struct SecondSendRefusal: Error {
    let interceptor: String
}
