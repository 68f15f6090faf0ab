import Nautilus
import NautilusTesting

/// The outcome of a call, as black-box cases ask for it.
package struct Outcome: Sendable {
    package let response: HttpResponse<String>?
    package let error: HttpError?
    /// When the call ended, on the simulation's clock.
    package let end: Duration

    package var trace: CallTrace { response?.trace ?? error?.trace ?? CallTrace() }
    package var attempts: Int { trace.attempts.count }
    /// The delays that were slept between attempts.
    package var delays: [Duration] {
        trace.attempts.compactMap { attempt in
            if case .retry(let delay)? = attempt.decision?.action { delay } else { nil }
        }
    }
    package var lastReason: RetryReason? { trace.attempts.last?.decision?.reason }

    package init(
        response: HttpResponse<String>?,
        error: HttpError?,
        end: Duration
    ) {
        (self.response, self.error, self.end) = (response, error, end)
    }
}

/// Runs one call in virtual time, against a transport that has been scripted on the simulation's clock.
///
/// - Parameter retrier: Default: backoff of 0.5 s, 1 s, 2 s, … without jitter, 4 attempts.
package func outcome<R: Request>(
    of request: R,
    retrier: any RetrierFactory = steadyBackoff(),
    maxAttempts: Int = 100,
    interceptors: [any HttpInterceptor] = [],
    header: @escaping @Sendable () -> HttpHeader = { [:] },
    from transport: @escaping @Sendable (ManualClock) -> ScriptedTransport
) async throws -> Outcome where R.Result == String {
    try await simulate { simulation in
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: interceptors,
            retrierFactory: retrier,
            transport: transport(simulation.clock),
            clock: simulation.clock
        ).with {
            $0.maxAttempts = maxAttempts
            $0.asyncHeader = { header() }
        }
        do throws(HttpError) {
            let response = try await request.response(with: service)
            return Outcome(response: response, error: nil, end: simulation.clock.now.offset)
        } catch {
            return Outcome(response: nil, error: error, end: simulation.clock.now.offset)
        }
    }
}

/// The same with a transport that does not look at the clock.
package func outcome<R: Request>(
    of request: R,
    retrier: any RetrierFactory = steadyBackoff(),
    maxAttempts: Int = 100,
    interceptors: [any HttpInterceptor] = [],
    header: @escaping @Sendable () -> HttpHeader = { [:] },
    _ transport: ScriptedTransport
) async throws -> Outcome where R.Result == String {
    try await outcome(
        of: request,
        retrier: retrier,
        maxAttempts: maxAttempts,
        interceptors: interceptors,
        header: header,
        from: { _ in transport }
    )
}

/// 0.5 s, 1 s, 2 s, …, without jitter.
///
/// - Parameter budget: Default: none. The default of the library is shared by the whole process, all tests included.
package func steadyBackoff(
    maxAttempts: Int = 4,
    budget: RetryBudgetScope = .unlimited,
    gate: (any RetryGate)? = nil
) -> any RetrierFactory {
    BackoffRetrier.factory(
        .standard.with {
            $0.backoff = .exponential(jitter: .none)
            $0.maxAttempts = maxAttempts
            $0.budget = budget
            $0.gate = gate
        }
    )
}
