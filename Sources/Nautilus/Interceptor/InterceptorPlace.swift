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
    /// It has requests wait for others to end, as ``ConcurrencyLimit`` does.
    public static let waitingForOthers = InterceptorPlace(3, because: "what needs no exchange of its own needs no slot")
    /// It has requests wait for the server's time, as ``Pacing`` does.
    public static let waitingForServer = InterceptorPlace(
        4,
        because: "while a request waits for something else, the server may ask for patience, and has to be heeded"
    )
    /// It refuses requests at once, as ``CircuitBreaker`` does.
    public static let refusing = InterceptorPlace(
        5,
        because: "a request that has waited must still be held back when the circuit has opened meanwhile"
    )
    /// It tells the server how much time is left, as ``RequestTimeoutHeader`` does.
    public static let tellingTime = InterceptorPlace(
        5,
        because: "what is waited for before the header is made is then subtracted"
    )
    /// It stands for the network, as ``Chaos`` does.
    public static let network = InterceptorPlace(6, because: "its trouble has to look like the network's")

    /// Whether one of this place has to stand outside of one of `other`.
    func isOutside(of other: InterceptorPlace) -> Bool {
        guard let rank, let otherRank = other.rank else { return false }
        return rank < otherRank
    }
}
