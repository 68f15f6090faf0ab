import Nautilus

/// The sum of what was added in the last ten slices of time.
struct SlidingSum: Sendable {
    /// A tenth is dropped at a time: fine enough for a smooth sum, few enough slices to keep.
    static let sliceCount: Int64 = 10

    private var slices = [Int64](repeating: 0, count: Int(sliceCount))
    private var latest: Int64 = 0
    private(set) var sum: Int64 = 0

    /// Forgets the slices that have expired when slice `number` is current.
    mutating func advance(to number: Int64) {
        // Threads may come in a different order than they read the clock.
        guard number > latest else { return }
        for step in 1...min(number - latest, Self.sliceCount) {
            let index = Int((latest + step) % Self.sliceCount)
            sum -= slices[index]
            slices[index] = 0
        }
        latest = number
    }

    /// Adds to the current slice.
    mutating func add(_ amount: Int64) {
        slices[Int(latest % Self.sliceCount)] += amount
        sum += amount
    }
}
