extension HttpService {
    /// The contradictions in the service's rules, and rules that cannot work: empty when all is well.
    ///
    /// ```swift
    /// @Test func policy() { #expect(NotesService().diagnose().isEmpty) }
    /// ```
    /// Nothing is sent. Only certain findings are listed: of retriers, what their factory says of them, so nothing of
    /// factories that do not describe themselves; of objects that calls share, whether two looks at the service find
    /// the same. One service does not show whether it is itself made anew for every call.
    public func diagnose() -> [PolicyFinding] {
        let policies = retrierFactory.policies
        var findings: [PolicyFinding] = []
        if policies.maxAttempts > maxAttempts {
            findings.append(.attemptsOverCeiling(attempts: policies.maxAttempts, ceiling: maxAttempts))
        }
        if policies.contains(where: { $0.retriesNonIdempotentRequests && $0.maxAttempts > 1 }) {
            findings.append(.retriesNonIdempotentRequests)
        }
        if policies.contains(where: { $0.maxAttempts > 1 && $0.budget?.isUnlimited == true }) {
            findings.append(.unlimitedBudget(of: .retries))
        }
        if hedging?.budget.isUnlimited == true { findings.append(.unlimitedBudget(of: .hedges)) }
        if policies.fillsBudgetTwice { findings.append(.budgetFilledTwice) }
        return findings + objectsMadeAnew + interceptors.misplaced
    }

    /// The same, and the contradictions between `request` and the service's rules.
    public func diagnose<R: Request>(_ request: R) -> [PolicyFinding] {
        diagnose() + contradictions(to: request)
    }

    private func contradictions(to request: some Request) -> [PolicyFinding] {
        let policies = retrierFactory.policies
        let (attempts, delays) = (policies.maxAttempts, policies.shortestDelays)
        var findings: [PolicyFinding] = []
        if let deadline = request.deadline {
            // A request that is not repeated after a timeout needs the time for one.
            if attempts > 1, mayRepeat(request, by: policies), let timeout = request.timeout,
                (timeout.addable * attempts.clampedToThousand + delays) > deadline
            {
                findings.append(
                    .attemptsDoNotFit(attempts: attempts, timeout: timeout, delays: delays, deadline: deadline)
                )
            }
            // The default says how long anyone would wait, and where there is a deadline, that is shorter.
            if let cap = policies.compactMap(\.retryAfterCap).max(), cap > deadline,
                cap != BackoffPolicy.defaultRetryAfterCap
            {
                findings.append(.retryAfterCapBeyondDeadline(cap: cap, deadline: deadline))
            }
        }
        if request.allowsHedging, let delay = hedging?.delay.shortest,
            let limit = [request.timeout, request.deadline].compactMap({ $0 }).min(), delay >= limit
        {
            findings.append(.hedgeTooLate(after: delay, limit: limit))
        }
        return findings
    }

    /// Whether `request` may be sent again when the server may have acted on it.
    private func mayRepeat(_ request: some Request, by policies: [RetryPolicy]) -> Bool {
        request.method.isIdempotent
            || request.header[.idempotencyKey] != nil
            || header[.idempotencyKey] != nil
            || interceptors.contains(where: \.addsIdempotencyKeys)
            || policies.contains { $0.retriesNonIdempotentRequests }
    }

    /// The shared objects that two looks at the service find to be two.
    private var objectsMadeAnew: [PolicyFinding] {
        let looks = [SharedObjects(self), SharedObjects(self)]
        // Both are there until they have been compared: else the second could get the first one's place in memory.
        return withExtendedLifetime(looks) { looks[0].madeAnew(in: looks[1]) }
    }
}

extension Collection where Element == RetryPolicy {
    fileprivate var shortestDelays: Duration {
        reduce(.zero) { ($0 + $1.shortestDelays).addable }
    }

    /// Whether two of them that retry deposit in the same budget.
    fileprivate var fillsBudgetTwice: Bool {
        let budgets = compactMap(\.budget).filter { !$0.isUnlimited }
        return budgets.indices.contains { index in
            budgets[..<index].contains { $0.isShared(with: budgets[index]) == true }
        }
    }
}

extension Int {
    /// More attempts than a thousand are a way of saying "for ever".
    fileprivate var clampedToThousand: Int { Swift.min(self, 1000) }
}

extension [any HttpInterceptor] {
    /// Neighbours and others that stand in the wrong order, by what they say of their places.
    fileprivate var misplaced: [PolicyFinding] {
        indices.flatMap { outer in
            self[(outer + 1)...].compactMap { inner -> PolicyFinding? in
                let place = self[outer].place
                guard inner.place.isOutside(of: place) else { return nil }
                return .interceptorOrder(
                    outer: "\(type(of: self[outer]))",
                    inner: "\(type(of: inner))",
                    because: place.reason
                )
            }
        }
    }
}
