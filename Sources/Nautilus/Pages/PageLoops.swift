/// Tells when pages lead back to where they have been, in memory that does not grow.
///
/// A circle of up to ``window`` pages is found at its first repetition. A larger one is found by Brent's algorithm
/// (R. P. Brent, "An improved Monte Carlo factorization algorithm", BIT 20, 1980): each page is compared with one earlier
/// page, which moves up after twice as many pages each time.
struct PageLoops: Sendable {
    /// How many pages are remembered one by one: 8 KiB, and searched in less than a microsecond.
    static let window = 1_024

    /// Hashes of the pages visited last, the oldest of which is overwritten. Of 64 bits and with a seed of its own in each
    /// process: two different pages out of a million meet once in ten billion runs.
    private var recent: [Int] = []
    private var oldest = 0
    private var mark: Int?
    private var stepsSinceMark = 0
    private var stepsToNextMark = 1

    /// How many pages are remembered now.
    var memory: Int { recent.count }

    /// Notes a visit.
    ///
    /// - Returns: Whether the page is known to have been visited before.
    mutating func visit(_ page: Int) -> Bool {
        if page == mark || recent.contains(page) { return true }
        if recent.count < Self.window {
            recent.append(page)
        } else {
            recent[oldest] = page
            oldest = (oldest + 1) % Self.window
        }
        stepsSinceMark += 1
        if stepsSinceMark == stepsToNextMark {
            (mark, stepsSinceMark, stepsToNextMark) = (page, 0, stepsToNextMark * 2)
        }
        return false
    }
}
