import Nautilus
import NautilusStreams

extension HttpService {
    /// The contradictions in the service's rules, and the rules that cannot work; empty when all is well.
    ///
    /// ```swift
    /// @Test func policy() { #expect(NotesService().diagnose().isEmpty) }
    /// ```
    /// Nothing is sent. Only certain findings are listed. About retriers, they rely on ``BackoffRetrier`` and
    /// composed retriers: nothing is known of the attempts of a retrier of your own. About objects that calls share, they
    /// compare two reads of the service's properties. Whether the service itself is created anew for every call cannot be
    /// seen from one service.
    public func diagnose() -> [PolicyFinding] {
        configuration.findings + objectsMadeAnew
    }

    /// The service's findings, and the contradictions between `request` and the service's rules.
    public func diagnose<R: Request>(_ request: R) -> [PolicyFinding] {
        diagnose() + configuration.contradictions(to: request) + NearMisses.findings(of: request)
    }

    /// The service's findings, and those about the stored properties of a web socket's request.
    public func diagnose<R: StreamRequest>(_ request: R) -> [PolicyFinding] {
        diagnose() + NearMisses.findings(of: request)
    }

    /// The shared objects that are different ones each time that the service is read.
    private var objectsMadeAnew: [PolicyFinding] {
        let looks = [SharedObjects(configuration), SharedObjects(configuration)]
        // Both are kept alive until they have been compared, or the second could take the first one's address in
        // memory.
        return withExtendedLifetime(looks) { looks[0].madeAnew(in: looks[1]) }
    }
}

extension ServiceConfiguration {
    fileprivate var findings: [PolicyFinding] {
        let retriers = presentRetriers
        var findings: [PolicyFinding] = []
        if retriers.maxAttempts > maxAttempts {
            findings.append(.attemptsOverCeiling(attempts: retriers.maxAttempts, ceiling: maxAttempts))
        }
        let retries = retriers.policies.filter { $0.maxAttempts > 1 }
        if retries.contains(where: \.retriesNonIdempotentRequests) { findings.append(.retriesNonIdempotentRequests) }
        if retries.contains(where: { $0.budget.keeper == nil }) { findings.append(.unlimitedBudget(of: .retries)) }
        if let hedging, hedging.budget.keeper == nil { findings.append(.unlimitedBudget(of: .hedges)) }
        if retriers.fillsBudgetTwice { findings.append(.budgetFilledTwice) }
        // An anonymous call asks no retrier for credentials.
        if !isAnonymous, retriers.repeatsBeforeAuthorization { findings.append(.authorizationBehindRetries) }
        findings += declared.header.merging(header).fields.filter(\.isOfUser).map { .credentialInHeader($0.name) }
        if let origin = overheardOrigin(of: apiUrl, isSecure: usesSecureProtocol) {
            findings.append(.plainHttp(origin))
        }
        return findings + NearMisses.findings(of: declared)
    }

    fileprivate func contradictions(to request: some Request) -> [PolicyFinding] {
        let retriers = presentRetriers
        let (attempts, delays) = (retriers.maxAttempts, retriers.shortestDelays)
        var findings: [PolicyFinding] = []
        if let deadline = deadline(of: request) {
            // A request that is not repeated after a timeout needs the time for only one.
            if attempts > 1, mayRepeat(request, by: retriers), let timeout = timeout(of: request),
                (timeout.clampedToCentury * attempts.clampedToThousand + delays) > deadline
            {
                findings.append(
                    .attemptsDoNotFit(attempts: attempts, timeout: timeout, delays: delays, deadline: deadline)
                )
            }
            // The default cap is the longest that anyone would wait, so a deadline is meant to be shorter.
            if let cap = retriers.policies.map(\.retryAfterCap).max(), cap > deadline,
                cap != BackoffRetrier.Configuration.standard.retryAfterCap
            {
                findings.append(.retryAfterCapBeyondDeadline(cap: cap, deadline: deadline))
            }
        }
        if request.allowsHedging, let delay = hedging?.shortestDelay,
            let limit = [timeout(of: request), deadline(of: request)].compactMap({ $0 }).min(), delay >= limit
        {
            findings.append(.hedgeTooLate(after: delay, limit: limit))
        }
        for (index, component) in request.route.components.enumerated() where component.contains(where: "/?".contains) {
            findings.append(.separatorInRoute(component: index))
        }
        // The service's own URL is a finding about the service.
        let isSecure = request.usesSecureProtocol ?? usesSecureProtocol
        if let origin = overheardOrigin(of: request.url ?? apiUrl, isSecure: isSecure),
            origin != overheardOrigin(of: apiUrl, isSecure: usesSecureProtocol)
        {
            findings.append(.plainHttp(origin))
        }
        return findings
    }

    private var presentRetriers: [KnownRetrier] {
        KnownRetrier.all(of: isAnonymous ? retrierFactory.anonymous : retrierFactory)
    }

    private var hedging: HedgingRules? { interceptors.lazy.compactMap(\.hedging).first }

    /// The origin of a base URL, if others can read what is sent to it; nil also for an invalid URL.
    private func overheardOrigin(of url: any UrlConvertible, isSecure: Bool) -> HttpOrigin? {
        guard let base = try? BaseUrlMemo.shared.base(url, isSecure: isSecure) else { return nil }
        return base.origin.canBeOverheard ? base.origin : nil
    }

    /// Whether `request` may be sent again although the server may have acted on it.
    private func mayRepeat(_ request: some Request, by retriers: [KnownRetrier]) -> Bool {
        request.method.isIdempotent
            || request.header[.idempotencyKey] != nil
            || declared.header.merging(header)[.idempotencyKey] != nil
            || interceptors.contains { $0 is IdempotencyKeys }
            || retriers.policies.contains(where: \.retriesNonIdempotentRequests)
    }
}

extension HttpHeader.Field {
    /// Whether the field carries a credential that expires; an app's own key, such as `X-Api-Key`, and a password do
    /// not.
    fileprivate var isOfUser: Bool {
        if name == .cookie { return true }
        return (name == .authorization || name == "Proxy-Authorization") && !value.lowercased().hasPrefix("basic ")
    }
}

extension HttpOrigin {
    /// Whether others can read what is sent to this origin.
    fileprivate var canBeOverheard: Bool { scheme == "http" && !isLoopback }
}

extension Int {
    /// The number, at most 1000: more attempts than that are a way of saying "for ever".
    fileprivate var clampedToThousand: Int { Swift.min(self, 1000) }
}
