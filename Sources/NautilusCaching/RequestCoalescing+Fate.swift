import Foundation
import Nautilus

extension RequestCoalescing {
    /// The consequence of an exchange's end for those that wait for it.
    enum Fate {
        /// It is theirs, too.
        case shared
        /// So it is, but for those that read it as this call does, which is going to ask again.
        case sharedWhileAway
        /// It does not concern them, and the next one asks.
        case anothersTurn
        /// The same call is going to ask again, with what it needs.
        case awaitedAgain
        /// It may be theirs or not: each asks for itself.
        case own

        var isShared: Bool { self == .shared || self == .sharedWhileAway }
    }

    func fate(
        of response: HttpResponse<Data>,
        to request: HttpRequest,
        _ context: AttemptContext,
        _ watch: ExchangeWatch
    ) -> Fate {
        // A side request does not come again, and neither does what belongs to no call.
        let mayReturn = !context.isSideRequest && context.call != .none
        let received = response.asReceived
        if received.refusesCredential { return mayReturn ? .awaitedAgain : .own }
        // The account may have changed after the request was stamped.
        guard watch.allowsSharing else { return .own }
        // Made further in without asking the server, for an unknown user. And it costs as little once more.
        guard response.exchange != nil || watch.sent != nil || context.call == .none else { return .own }
        let sent = watch.sent ?? response.request ?? request
        // An interceptor has passed on a request of another kind in its place, which `sending` reported as a side
        // request.
        guard sent.asksTheSame(as: request, ignoring: ignoredNames) else { return .own }
        // Credentials are the account's business.
        let names = received.header.varyingNames.filter { !$0.isSensitive && !ignoredNames.contains($0) }
        guard sent.isSelected(like: request, by: names) else { return .own }
        // Read in the body by this call's type: to another it may be an answer.
        return response.refusesCredential && mayReturn ? .sharedWhileAway : .shared
    }

    func fate(of error: HttpError, to request: HttpRequest, _ watch: ExchangeWatch) -> Fate {
        // It was cancelled, or its deadline has passed.
        if Task.isCancelled { return .anothersTurn }
        switch error.kind {
        case .deadline, .refused(.waitPastDeadline): return .anothersTurn
        // It would have been any identical request's failure as well: a circuit is open for all.
        case .transport, .timeout, .responseTooLarge, .refused: return watch.allowsSharing ? .shared : .own
        default: return .own
        }
    }
}

extension HttpRequest {
    /// The fields by which a client says what it accepts (RFC 9110 §12.5).
    private static let negotiationNames: [HttpHeader.Name] = [
        .accept, "Accept-Charset", "Accept-Encoding", .acceptLanguage,
    ]

    /// Whether it still asks for what `seen` asked for before it passed the interceptors further in.
    func asksTheSame(as seen: HttpRequest, ignoring ignoredNames: Set<HttpHeader.Name>) -> Bool {
        method == seen.method && body.isEmpty && CacheTarget(self) == CacheTarget(seen)
            && isSelected(like: seen, by: Self.negotiationNames.filter { !ignoredNames.contains($0) })
    }

    /// Whether a server that chooses an answer by these fields chooses the same for both.
    fileprivate func isSelected(like other: HttpRequest, by names: [HttpHeader.Name]) -> Bool {
        names.allSatisfy { header.selector($0) == other.header.selector($0) }
    }
}

extension HttpResponse {
    var refusesCredential: Bool { status == 401 || status == 407 }
}
