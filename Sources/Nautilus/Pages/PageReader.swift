import Foundation

/// The position of a reader of pages: what comes next, and why it may end.
///
/// It asks for nothing itself, so that a page may be fetched elsewhere and ahead.
struct PageReader<R: PaginatedRequest, Failure: Error>: Sendable {
    /// The next page, the failure to report, or the end.
    enum Position: Sendable {
        case page(PageTarget<R>)
        case failure(Failure)
        case end
    }

    private(set) var position: Position
    private let service: AnyHttpService<Failure>
    private let limit: Int?
    private var number = 0
    private var loops = PageLoops()

    init(first: R, service: AnyHttpService<Failure>, limit: Int?) {
        self.position = limit.map { $0 <= 0 } ?? false ? .end : .page(.request(first))
        self.service = service
        self.limit = limit
        if let identity = PageTarget.request(first).identity(with: service) { _ = loops.visit(identity) }
    }

    /// Moves to the page after one that was read.
    mutating func advance(from target: PageTarget<R>, after page: HttpResponse<R.Result>) {
        number += 1
        position = .end
        if let limit, number >= limit { return }
        do {
            guard let next = try target.request.next(after: page) else { return }
            let following = try target.following(next, after: page, number: number, with: service)
            if let identity = following.identity(with: service), loops.visit(identity) {
                throw PaginationError.loop(page: number)
            }
            position = .page(following)
        } catch {
            position = .failure(service.mapped(failure(error, after: page)))
        }
    }

    /// Moves to the end, for good: after a failure, or once one has been reported, nothing more is read.
    mutating func end() {
        position = .end
    }

    /// Moves to the end, because of what the pages up to `page` are.
    ///
    /// - Returns: The service's own error for it.
    mutating func fail(_ error: PaginationError, after page: HttpResponse<R.Result>) -> Failure {
        end()
        return service.mapped(failure(error, after: page))
    }

    /// The page's call went well; what it leads to did not.
    private func failure(_ thrown: any Error, after page: HttpResponse<R.Result>) -> HttpError {
        var error = HttpError(wrapping: thrown, stage: .decode, delivery: .notSent)
        error.request = page.trace.request
        error.trace = page.trace
        return error
    }
}

/// Tells when pages lead back to where they have been, in memory that does not grow.
///
/// A circle of up to ``window`` pages is found at its first repetition. A larger one is found by Brent's algorithm (R.
/// P. Brent, "An improved Monte Carlo factorization algorithm", BIT 20, 1980): each page is compared with one earlier
/// page, which moves up after twice as many pages each time.
struct PageLoops: Sendable {
    /// How many pages are remembered one by one: 8 KiB, and searched in less than a microsecond.
    static let window = 1_024

    /// Hashes of the pages visited last, the oldest of which is overwritten. Of 64 bits and with a seed of its own in
    /// each process: two different pages out of a million meet once in ten billion runs.
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
