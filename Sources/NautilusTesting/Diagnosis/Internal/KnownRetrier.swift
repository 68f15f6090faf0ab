import Nautilus

/// One retrier of a service's calls, as far as its factory shows it.
enum KnownRetrier {
    case backoff(BackoffRetrier.Configuration)
    /// It puts a credential on requests.
    case authorizing
    /// It may do anything.
    case other

    /// The retriers of a factory, in the order in which they are asked.
    static func all(of factory: any RetrierFactory) -> [KnownRetrier] {
        switch factory {
        case let composed as ComposedRetrier.Factory: composed.factories.flatMap(all)
        case let policy as BackoffRetrier.Configuration: [.backoff(policy)]
        default: [factory.create(for: AnyRequest(.get, [])).credentials.isEmpty ? .other : .authorizing]
        }
    }
}

extension Collection where Element == KnownRetrier {
    var policies: [BackoffRetrier.Configuration] {
        compactMap { if case .backoff(let policy) = $0 { policy } else { nil } }
    }

    /// The most attempts of a call, including the first: one retrier's retries do not use up another's.
    var maxAttempts: Int {
        // Saturating: a limit of `Int.max` means no limit.
        policies.reduce(1) { attempts, policy in
            let (sum, overflows) = attempts.addingReportingOverflow(Swift.max(1, policy.maxAttempts) - 1)
            return overflows ? .max : sum
        }
    }

    /// The sum of all delays when every draw is the lowest.
    var shortestDelays: Duration { policies.reduce(.zero) { ($0 + $1.shortestDelays).clampedToCentury } }

    /// Whether two retriers deposit in the same budget.
    var fillsBudgetTwice: Bool {
        let keepers = policies.compactMap { $0.budget.keeper.flatMap(ObjectIdentifier.init(ofAny:)) }
        return Set(keepers).count < keepers.count
    }

    /// Whether a retrier that is asked before the one that authorizes repeats after a 401.
    var repeatsBeforeAuthorization: Bool {
        guard let first = firstIndex(where: { if case .authorizing = $0 { true } else { false } }) else { return false }
        return self[..<first].policies.contains { $0.maxAttempts > 1 && $0.retriesUnauthorized }
    }
}

extension BackoffRetrier.Configuration {
    /// Whether it repeats a request unchanged after a 401.
    fileprivate var retriesUnauthorized: Bool {
        condition.verdict(for: HttpError(.status(401), stage: .validate)).isRetryable
    }

    fileprivate var shortestDelays: Duration {
        var (sum, last) = (Duration.zero, Duration.zero)
        // Capped: so many retries would be a loop rather than a policy, and adding up their delays would take too long.
        for retry in 1..<max(1, min(maxAttempts, 1000)) {
            last = backoff.delay(beforeRetry: retry, previous: last, random: FixedRandomSource(0)).clampedToCentury
            sum = (sum + last).clampedToCentury
        }
        return sum
    }
}
