/// An interceptor that holds requests back, and so has a say when one that it has let through is to be sent twice.
///
/// The second send is made inside, below all interceptors, which see one request and one answer. It never waits: either it
/// could go at once as another request, and counts as one, or it is not made.
protocol HedgeGuard: HttpInterceptor {
    /// Takes what the second send of `request` needs.
    ///
    /// - Returns: What gives it back, called once when the send has ended; nil when another request would be held back.
    func admitHedge(of request: HttpRequest, context: AttemptContext) -> (@Sendable () -> Void)?
}

extension Collection where Element == any HedgeGuard {
    /// Asks all of them, and takes nothing unless all let it go.
    ///
    /// - Returns: What gives back all; or who would hold it back.
    func admitHedge(
        of request: HttpRequest,
        context: AttemptContext
    ) -> Result<@Sendable () -> Void, HedgeRefusal> {
        var leave: [@Sendable () -> Void] = []
        for element in self {
            guard let end = element.admitHedge(of: request, context: context) else {
                for end in leave.reversed() { end() }
                return .failure(HedgeRefusal(interceptor: "\(type(of: element))"))
            }
            leave.append(end)
        }
        return .success { [leave] in for end in leave.reversed() { end() } }
    }
}

/// Who would hold a second send back.
struct HedgeRefusal: Error {
    let interceptor: String
}
