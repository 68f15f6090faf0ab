extension HttpService {
    /// The contradictions in the service's rules, and the rules that cannot work; empty when all is well.
    ///
    /// ```swift
    /// @Test func policy() { #expect(NotesService().diagnose().isEmpty) }
    /// ```
    /// Nothing is sent. Only certain findings are listed. About retriers, they rely on what the factory says, so a
    /// factory that does not describe itself has none. About objects that calls share, they compare two reads of the
    /// service's properties. Whether the service itself is created anew for every call cannot be seen from one service.
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
        let descriptions = presentRetrierFactory.descriptions
        var findings: [PolicyFinding] = []
        if descriptions.maxAttempts > maxAttempts {
            findings.append(.attemptsOverCeiling(attempts: descriptions.maxAttempts, ceiling: maxAttempts))
        }
        if descriptions.contains(where: { $0.retriesNonIdempotentRequests && $0.maxAttempts > 1 }) {
            findings.append(.retriesNonIdempotentRequests)
        }
        if descriptions.contains(where: { $0.maxAttempts > 1 && $0.budget?.isUnlimited == true }) {
            findings.append(.unlimitedBudget(of: .retries))
        }
        if hedging?.budget?.isUnlimited == true { findings.append(.unlimitedBudget(of: .hedges)) }
        if descriptions.fillsBudgetTwice { findings.append(.budgetFilledTwice) }
        if descriptions.repeatsBeforeAuthorization { findings.append(.authorizationBehindRetries) }
        findings += declared.header.merging(header).fields.filter(\.isOfUser).map { .credentialInHeader($0.name) }
        if let origin = overheardOrigin(of: apiUrl, isSecure: usesSecureProtocol) {
            findings.append(.plainHttp(origin))
        }
        return findings + NearMisses.findings(of: declared)
    }

    fileprivate func contradictions(to request: some Request) -> [PolicyFinding] {
        let descriptions = presentRetrierFactory.descriptions
        let (attempts, delays) = (descriptions.maxAttempts, descriptions.shortestDelays)
        var findings: [PolicyFinding] = []
        if let deadline = deadline(of: request) {
            // A request that is not repeated after a timeout needs the time for only one.
            if attempts > 1, mayRepeat(request, by: descriptions), let timeout = timeout(of: request),
                (timeout.clampedToCentury * attempts.clampedToThousand + delays) > deadline
            {
                findings.append(
                    .attemptsDoNotFit(attempts: attempts, timeout: timeout, delays: delays, deadline: deadline)
                )
            }
            // The default cap is the longest that anyone would wait, so a deadline is meant to be shorter.
            if let cap = descriptions.compactMap(\.retryAfterCap).max(), cap > deadline,
                cap != BackoffRetrier.Configuration.defaultRetryAfterCap
            {
                findings.append(.retryAfterCapBeyondDeadline(cap: cap, deadline: deadline))
            }
        }
        if request.allowsHedging, let delay = hedging?.shortestDelays,
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

    /// The origin of a base URL, if others can read what is sent to it; nil also for an invalid URL.
    private func overheardOrigin(of url: any UrlConvertible, isSecure: Bool) -> HttpOrigin? {
        guard let base = try? BaseUrlMemo.shared.base(url, isSecure: isSecure) else { return nil }
        return base.origin.canBeOverheard ? base.origin : nil
    }

    /// Whether `request` may be sent again although the server may have acted on it.
    private func mayRepeat(_ request: some Request, by descriptions: [RetryDescription]) -> Bool {
        request.method.isIdempotent
            || request.header[.idempotencyKey] != nil
            || declared.header.merging(header)[.idempotencyKey] != nil
            || interceptors.contains(where: \.addsIdempotencyKeys)
            || descriptions.contains { $0.retriesNonIdempotentRequests }
    }
}

extension Collection where Element == RetryDescription {
    fileprivate var shortestDelays: Duration {
        reduce(.zero) { ($0 + $1.shortestDelays).clampedToCentury }
    }

    /// Whether two retriers deposit in the same budget.
    fileprivate var fillsBudgetTwice: Bool {
        let budgets = compactMap(\.budget).filter { !$0.isUnlimited }
        return budgets.indices.contains { index in
            budgets[..<index].contains { $0.isShared(with: budgets[index]) == true }
        }
    }

    /// Whether a retrier that is asked before the one that authorizes repeats after a 401.
    fileprivate var repeatsBeforeAuthorization: Bool {
        contains(where: \.authorizes)
            && prefix { !$0.authorizes }.contains { $0.retriesUnauthorized && $0.maxAttempts > 1 }
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

extension PolicyFinding: CustomStringConvertible {
    /// The finding, and what to do about it.
    public var description: String {
        switch self {
        case .attemptsDoNotFit(let attempts, let timeout, let delays, let deadline):
            """
            \(attempts) attempts of up to \(timeout.brief)\(delays > .zero ? " and delays of \(delays.brief)" : "") do not \
            fit into a deadline of \(deadline.brief), so that a silent server gets fewer: \
            \(Self.advice(attempts, delays, deadline))
            """
        case .retryAfterCapBeyondDeadline(let cap, let deadline):
            """
            no Retry-After of up to \(cap.brief) is waited for when the deadline is \(deadline.brief): \
            lower `retryAfterCap`, or raise `deadline`
            """
        case .attemptsOverCeiling(let attempts, let ceiling):
            """
            the retriers allow \(attempts) attempts, and the service \(ceiling): \
            raise the service's `maxAttempts`, or lower the retriers'
            """
        case .retriesNonIdempotentRequests:
            """
            a POST that the server may have executed is repeated, and executed twice: \
            leave `retriesNonIdempotentRequests` false, and send an `Idempotency-Key`
            """
        case .unlimitedBudget(let payee):
            """
            nothing bounds the \(payee.rawValue) of all calls together, which may hold a struggling server down: \
            leave `budget` at its default, or share one
            """
        case .budgetFilledTwice:
            """
            two retriers note each success in the same budget, which then allows twice as much: \
            keep one of them, or give each a budget of its own
            """
        case .hedgeTooLate(let delay, let limit):
            """
            a second send after \(delay.brief) comes too late for a limit of \(limit.brief): \
            hedge earlier, raise the limit, or set `allowsHedging` to false
            """
        case .madeAnew(let type, let property):
            """
            \(type) is made anew whenever `\(property)` is read, so that no two calls share it: \
            keep it in a stored property
            """
        case .notTheRule(let property, let owner, let rule):
            """
            `\(property)` of \(owner) is not the rule `\(rule)`, whose default stays in force: declare it with that name \
            and type
            """
        case .authorizationBehindRetries:
            """
            a 401 is answered by sending the rejected credential again, and not by a refresh: \
            put the retrier that authorizes first in `.composed`
            """
        case .credentialInHeader(let name):
            """
            `\(name)` in `header` goes out with every request and is not refreshed when the server rejects it: \
            have a retrier put it on, made by `authorization` of a `RefreshCoordinator` or a session
            """
        case .separatorInRoute(let component):
            """
            component \(component) of the route contains `/` or `?`, which goes out as %2F or %3F: write one component for \
            each part of the path, and what follows the `?` into `query`
            """
        case .plainHttp(let origin):
            """
            calls go over plain http to \(origin), and everybody on the way can read and change them: \
            begin the base URL with https://, or leave `usesSecureProtocol` true
            """
        }
    }

    private static func advice(_ attempts: Int, _ delays: Duration, _ deadline: Duration) -> String {
        let timeout = (deadline - delays) / max(1, attempts)
        guard timeout >= .milliseconds(1) else { return "lower `maxAttempts`, or raise `deadline`" }
        return "lower `timeout` to \(timeout.brief) or less, or `maxAttempts`, or raise `deadline`"
    }
}
