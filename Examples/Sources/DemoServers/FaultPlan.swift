/// Which requests are answered badly, and how: a function of the seed and the request's number alone.
public struct FaultPlan: Sendable {
    /// A fault that befalls a request.
    public enum Fault: Hashable, Sendable {
        /// 503, with `Retry-After` in whole seconds or without; nothing was done.
        case unavailable(retryAfter: Int?)
        /// 429 with `Retry-After` in whole seconds; nothing was done.
        case tooManyRequests(retryAfter: Int)
        /// The connection closes without an answer, and nothing was done.
        case droppedBeforeHandling
        /// The connection closes without an answer, though the request was carried out.
        case droppedAfterHandling
        /// The answer is a good one, but takes its time.
        case slow(Duration)
    }

    /// The share of requests with a fault, 0...1.
    public let rate: Double
    private let seed: UInt64

    /// A plan without faults.
    public static let none = FaultPlan(seed: 0, rate: 0)

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - seed: The same seed leads to the same plan.
    ///   - rate: The share of requests with a fault, clamped to 0...1.
    public init(seed: UInt64, rate: Double) {
        self.seed = seed
        self.rate = rate.isNaN ? 0 : min(max(rate, 0), 1)
    }

    /// The fault of a request; nil for most.
    ///
    /// - Parameter number: The request's number on its server, from 0.
    public func fault(ofRequest number: Int) -> Fault? {
        var generator = SeededGenerator(seed: seed, stream: UInt64(bitPattern: Int64(number)))
        guard Double.random(in: 0..<1, using: &generator) < rate else { return nil }
        // A Retry-After is rare: each holds back every retry to this origin for a whole second.
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<2: return .tooManyRequests(retryAfter: 1)
        case ..<3: return .unavailable(retryAfter: 1)
        case ..<46: return .unavailable(retryAfter: nil)
        case ..<62: return .droppedBeforeHandling
        case ..<76: return .droppedAfterHandling
        default: return .slow(.milliseconds(Int.random(in: 10...60, using: &generator)))
        }
    }
}
