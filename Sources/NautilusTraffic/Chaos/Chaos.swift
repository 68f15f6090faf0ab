import Foundation
import Nautilus

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An interceptor that causes the trouble that networks and servers cause, so that a staging build meets it before
/// users do. It is off until ``isOn`` is set, so it does no harm in a release. It stands next to the wire.
/// ```swift
/// struct NotesService { let chaos = Chaos(seed: 7, .failure(rate: 0.05), .answer(status: 503, rate: 0.05)) }
/// extension NotesService: HttpService {
///     var apiUrl: any UrlConvertible { "staging.example.com/v1" }
///     var interceptors: [any HttpInterceptor] { [chaos] }
/// }
/// ```
/// The seed and the request's number, counted from 1 in the order of arrival, decide its fate; a retry has its own. The
/// faults are tried in order: delays add up, and the first other fault that strikes ends the request. Failures made
/// here have a ``Failure`` underneath, and answers the field ``mark``.
public final class Chaos: NetworkInterceptor {
    private struct State {
        var isOn: Bool
        var lastNumber = 0
    }

    /// The field that marks an answer as made here, `X-Chaos`; its value gives the number of the request and the seed.
    public static let mark = HttpHeader.Name("X-Chaos")

    private let seed: UInt64
    private let faults: [ChaosFault]
    private let clock: any Clock<Duration>
    private let state: Locked<State>

    /// Creates a chaos.
    ///
    /// - Parameters:
    ///   - seed: The seed that decides. No default: write the seed down, and you can repeat the run.
    ///   - faults: The faults, each with its rate. Without any, nothing goes wrong.
    ///   - isOn: Whether the trouble begins at once. Default: false, so that trouble comes only on request.
    ///   - clock: The clock that delays sleep on. Default: `ContinuousClock`, like a service's own default.
    public init(
        seed: UInt64,
        _ faults: ChaosFault...,
        isOn: Bool = false,
        clock: any Clock<Duration> = DefaultClock.current
    ) {
        self.seed = seed
        self.faults = faults
        self.clock = clock
        self.state = Locked(State(isOn: isOn))
    }

    /// Whether trouble is made. Requests that come while it is off get no number.
    public var isOn: Bool {
        get { state.withLock { $0.isOn } }
        set { state.withLock { $0.isOn = newValue } }
    }

    /// Sends the request or makes it fail, as the seed decides.
    ///
    /// - Throws: `HttpError` of kind `transport`, with ``Failure`` underneath; `CancellationError` when the call
    ///   is cancelled during a delay. Otherwise what the exchange throws.
    public func intercept(
        _ request: HttpRequest,
        context: AttemptContext,
        next: Next
    ) async throws -> HttpResponse<Data> {
        guard let number = takeNumber() else { return try await next(request) }
        var draws = ChaosDraws(seed: seed, number: number)
        for fault in faults where draws.strikes(at: fault.rate) {
            switch fault.kind {
            case .delay(let range):
                let spread = range.upperBound - range.lowerBound
                try await clock.sleep(for: range.lowerBound + spread.scaled(by: draws.nextFraction()))
            case .failure(let code):
                throw failure(code, code.delivery, number)
            case .answer(let status, let header):
                return HttpResponse(status: status, header: header.merging(marks(number)), body: Data())
            case .droppedAnswer:
                _ = try await next(request)
                throw failure(.networkConnectionLost, .maybeExecuted, number)
            }
        }
        return try await next(request)
    }

    /// Next to the wire.
    public var networkStage: InterceptorTier.NetworkStage { .network }

    private func takeNumber() -> Int? {
        state.withLock { state in
            guard state.isOn else { return nil }
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    private func failure(_ code: URLError.Code, _ delivery: Delivery, _ number: Int) -> HttpError {
        HttpError(
            .transport(code),
            stage: .intercept,
            delivery: delivery,
            underlying: Failure(seed: seed, number: number)
        )
    }

    private func marks(_ number: Int) -> HttpHeader {
        HttpHeader([.init(name: Self.mark, value: "request \(number) of seed \(seed)")])
    }
}

/// One kind of trouble that ``Chaos`` makes, and how often.
///
/// A rate is a fraction of all requests, from 0 to 1: less counts as 0, more as 1, and NaN as 0, so that no arithmetic
/// in a settings screen can crash an app.
public struct ChaosFault: Sendable {
    enum Kind: Hashable, Sendable {
        case delay(ClosedRange<Duration>)
        case failure(URLError.Code)
        case answer(status: Int, HttpHeader)
        case droppedAnswer
    }

    let kind: Kind
    let rate: Double

    private init(_ kind: Kind, rate: Double) {
        self.kind = kind
        self.rate = rate.isNaN ? 0 : min(max(rate, 0), 1)
    }

    /// Sends a request later, like a slow network.
    ///
    /// - Parameters:
    ///   - delay: How much later, uniformly distributed; negative times count as zero.
    ///   - rate: How often.
    public static func delay(_ delay: ClosedRange<Duration>, rate: Double) -> ChaosFault {
        ChaosFault(.delay(delay.lowerBound.clampedToCentury...delay.upperBound.clampedToCentury), rate: rate)
    }

    /// Does not send a request, and fails as the network would.
    ///
    /// The error's delivery is what a transport would report with this code, since no client can know better: after a
    /// lost connection, the server may have acted.
    ///
    /// - Parameters:
    ///   - code: The failure's code. Default: no connection to the host, the most common failure and the most harmless.
    ///   - rate: How often.
    public static func failure(_ code: URLError.Code = .cannotConnectToHost, rate: Double) -> ChaosFault {
        ChaosFault(.failure(code), rate: rate)
    }

    /// Does not send a request, and answers it with a status, like an overloaded gateway or a rate limit.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - header: The answer's header, such as `Retry-After`. Default: none.
    ///   - rate: How often.
    public static func answer(status: Int, header: HttpHeader = [:], rate: Double) -> ChaosFault {
        ChaosFault(.answer(status: status, header), rate: rate)
    }

    /// Sends a request, has the server act on it, and throws its answer away: the connection is lost, and the request
    /// may have been executed. A request that is retried nevertheless is executed twice.
    ///
    /// - Parameter rate: How often.
    public static func droppedAnswer(rate: Double) -> ChaosFault {
        ChaosFault(.droppedAnswer, rate: rate)
    }
}

extension Chaos {
    /// The underlying error of a failure made by ``Chaos``, so that its cause is not sought on the server.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The seed of the chaos.
        public let seed: UInt64
        /// The number of the request, from 1.
        public let number: Int

        /// The origin of the failure, and the numbers with which to repeat it.
        public var description: String { "made by Chaos, request \(number) of seed \(seed)" }
    }
}

/// The random draws for one request: the same for the same seed and number, whatever happens to other requests.
struct ChaosDraws: Sendable {
    private var generator: SplitMix64

    init(seed: UInt64, number: Int) {
        // The number is mixed first: otherwise neighbouring numbers would give the same draws, shifted by one.
        let number = SplitMix64.mixed(UInt64(bitPattern: Int64(number)))
        generator = SplitMix64(seed: SplitMix64.mixed(seed &+ number))
    }

    /// Whether something that happens at `rate` happens now: never at 0, always at 1.
    mutating func strikes(at rate: Double) -> Bool {
        nextFraction() < rate
    }

    /// One draw, uniform in `0..<1`, in steps of 2⁻⁵³.
    mutating func nextFraction() -> Double { generator.nextFraction() }
}
