import Foundation
import Nautilus

/// An interceptor that stops sending to an origin that keeps failing, and now and then sends one request to see whether
/// the origin has recovered. The guide `Traffic` says what counts as a failure.
/// ```swift
/// struct NotesService { let breaker = CircuitBreaker() }
/// extension NotesService: HttpService {
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var interceptors: [any HttpInterceptor] { [breaker] }
/// }
/// ```
/// While the circuit is open, requests fail at once with `FailureKind.refused`: nothing is sent, and the error says
/// when to come back. `BackoffRetrier` waits until then if that fits into its cap. Each origin has its own circuit,
/// shared by all calls that pass the same instance: keep the breaker in a stored property.
public final class CircuitBreaker: NetworkInterceptor {
    /// A change of a circuit.
    public typealias Event = CircuitEvent

    private let limits: CircuitLimits
    private let random: any RandomSource
    private let stopwatch: Stopwatch
    private let circuits: Locked<CircuitTable>
    private let broadcast = Broadcast<Event>(bufferLimit: 100)

    /// Creates a breaker whose circuits are closed.
    ///
    /// - Parameters:
    ///   - limits: The limits at which circuits open, and for how long. Default: those of ``CircuitLimits``.
    ///   - clock: The clock that measures windows and pauses. Default: `ContinuousClock`, since time passes for the
    ///     server while the device sleeps.
    ///   - random: The source of the pauses' jitter. Default: the system's generator, so that no two clients share one.
    public init(
        limits: CircuitLimits = CircuitLimits(),
        clock: any Clock<Duration> = DefaultClock.current,
        random: any RandomSource = .system
    ) {
        self.limits = limits
        self.random = random
        self.stopwatch = Stopwatch(clock)
        self.circuits = Locked(CircuitTable(limits: limits))
    }

    /// The present state of the circuit to `origin`.
    public func state(of origin: HttpOrigin) -> CircuitState {
        let now = stopwatch.elapsed
        return circuits.withLock { $0.state(of: origin, at: now) }
    }

    /// The changes from now on, in order. Each access gives a new stream; any number may be used at a time.
    ///
    /// A stream keeps the latest 100 events for a slow reader, and ends with the breaker.
    public var events: AsyncStream<Event> { broadcast.stream() }

    /// Lets the request through and counts its outcome, or refuses it.
    ///
    /// - Throws: `HttpError` of kind `refused` while the circuit is open; its `retryAfter` is the time until the next
    ///   probe, nil while a probe is under way. Otherwise what the exchange throws.
    public func intercept(
        _ request: HttpRequest,
        context: AttemptContext,
        next: Next
    ) async throws -> HttpResponse<Data> {
        guard let origin = request.origin else { return try await next(request) }
        if !context.mayWait, state(of: origin) != .closed { throw AttemptContext.WouldWait() }
        let permit = try ask(origin)
        do {
            let response = try await next(request)
            end(permit, OriginVerdict(response, from: origin, failing: limits.failingStatuses), of: origin)
            return response
        } catch {
            end(permit, OriginVerdict(error, remaining: context.remaining), of: origin)
            throw error
        }
    }
}

extension CircuitBreaker {
    /// The permit to send.
    private func ask(_ origin: HttpOrigin) throws(HttpError) -> CircuitMachine.Permit {
        if let permit = circuits.withLock({ $0.immediatePermit(for: origin) }) { return permit }
        let now = stopwatch.elapsed
        let answer = circuits.withLock { $0.ask(origin, at: now) }
        deliverEvents()
        switch answer {
        case .go(let permit): return permit
        case .refuse(let nextProbe): throw HttpError(refusal: .circuitOpen(nextProbe: nextProbe))
        }
    }

    private func end(_ permit: CircuitMachine.Permit, _ outcome: OriginVerdict, of origin: HttpOrigin) {
        let outcome: CircuitMachine.Outcome =
            switch outcome {
            case .success: .success
            // Drawn here, since the source is the app's own and must not run under the lock.
            case .failure: .failure(pause: limits.pause(after: permit, drawing: random))
            case .nothing: .nothing
            }
        let now = stopwatch.elapsed
        let hasChanged = circuits.withLock { $0.end(permit, outcome, of: origin, at: now) }
        if hasChanged { deliverEvents() }
    }

    private func deliverEvents() {
        var batch = circuits.withLock { $0.outbox.beginDelivery() }
        while let events = batch {
            events.forEach(broadcast.send)
            batch = circuits.withLock { $0.outbox.continueDelivery() }
        }
    }
}

extension CircuitBreaker {
    /// Asked last, so that a request that has waited is still held back if the circuit has opened meanwhile.
    public var networkStage: InterceptorTier.NetworkStage { .refusing }
}

/// The state that a circuit breaker guards with its lock: the circuits, and the events that are still to be sent.
struct CircuitTable: Sendable {
    var outbox = Outbox<CircuitEvent>()
    private var circuits = OriginTable<HttpOrigin, CircuitMachine>()
    private let limits: CircuitLimits

    /// How many origins are known.
    var count: Int { circuits.count }

    init(limits: CircuitLimits) {
        self.limits = limits
    }

    /// The permit, while the circuit of `origin` is closed; nil when ``ask(_:at:)`` has to answer.
    mutating func immediatePermit(for origin: HttpOrigin) -> CircuitMachine.Permit? {
        circuits.place(of: origin).flatMap { circuits[$0].immediatePermit() }
    }

    /// Asks whether a request may go to `origin`.
    mutating func ask(_ origin: HttpOrigin, at now: Duration) -> CircuitMachine.Answer {
        let place = circuits.place(of: origin) {
            CircuitMachine(limits: limits)
        } worth: { circuit in
            circuit.worth(at: now)
        }
        let (answer, change) = circuits[place].ask(at: now)
        if let change { outbox.add(CircuitEvent(origin: origin, change: change)) }
        return answer
    }

    /// Notes that a request to `origin` has ended.
    ///
    /// - Returns: Whether there is an event to deliver.
    mutating func end(
        _ permit: CircuitMachine.Permit,
        _ outcome: CircuitMachine.Outcome,
        of origin: HttpOrigin,
        at now: Duration
    ) -> Bool {
        guard let place = circuits.place(of: origin),
            let change = circuits[place].end(permit, outcome, at: now)
        else { return false }
        outbox.add(CircuitEvent(origin: origin, change: change))
        return true
    }

    /// The visible state of the circuit to `origin`.
    mutating func state(of origin: HttpOrigin, at now: Duration) -> CircuitState {
        circuits.place(of: origin).map { circuits[$0].visibleState(at: now) } ?? .closed
    }
}
