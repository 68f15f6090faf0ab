/// Which requests are answered badly, and how: a function of the seed and the request's number alone.
public struct FaultPlan: Sendable {
    /// What happens to a request.
    public enum Fault: Hashable, Sendable {
        /// 503 without `Retry-After`; nothing was done.
        case unavailable
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
    private let revocationPoints: Set<Int>

    /// A plan without faults.
    public static let none = FaultPlan(seed: 0, rate: 0)

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - seed: The same seed leads to the same plan.
    ///   - rate: The share of requests with a fault, clamped to 0...1.
    ///   - revocations: How many times all access tokens are withdrawn during the run. Default: never.
    ///   - calls: How many calls the run has; the revocations fall in between them.
    public init(seed: UInt64, rate: Double, revocations: Int = 0, calls: Int = 0) {
        self.seed = seed
        self.rate = rate.isNaN ? 0 : min(max(rate, 0), 1)
        self.revocationPoints = Self.drawPoints(revocations, calls: calls, seed: seed)
    }

    /// The fault of a request; nil for most.
    ///
    /// - Parameter number: The request's number on its server, from 0.
    public func fault(ofRequest number: Int) -> Fault? {
        var generator = SeededGenerator(seed: seed, stream: UInt64(bitPattern: Int64(number)))
        guard Double.random(in: 0..<1, using: &generator) < rate else { return nil }
        // Rate limits are rare: each holds back every retry to this origin for a whole second.
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<2: return .tooManyRequests(retryAfter: 1)
        case ..<46: return .unavailable
        case ..<62: return .droppedBeforeHandling
        case ..<76: return .droppedAfterHandling
        default: return .slow(.milliseconds(Int.random(in: 10...60, using: &generator)))
        }
    }

    /// Whether all access tokens are withdrawn after the `count`th authorized answer.
    public func revokes(afterAuthorized count: Int) -> Bool {
        revocationPoints.contains(count)
    }

    /// One point in each of `count` equal parts of the run. Never after the last call: a revocation that nobody
    /// meets would not lead to a refresh.
    private static func drawPoints(_ count: Int, calls: Int, seed: UInt64) -> Set<Int> {
        guard count > 0, calls > count else { return [] }
        var generator = SeededGenerator(seed: seed, stream: 0x7265_766F_6B65)
        let part = (calls - 1) / count
        return Set((0..<count).map { $0 * part + Int.random(in: 1...part, using: &generator) })
    }
}
