import Foundation
import Nautilus

/// The position of a reader of pages: what comes next, or why the reading ends.
///
/// It makes no calls itself, so that pages can be fetched elsewhere and ahead of time.
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

    /// Moves to the page after `target`, whose response was read.
    mutating func advance(from target: PageTarget<R>, after page: HttpResponse<R.Result>) {
        number += 1
        position = .end
        if let limit, number >= limit { return }
        do {
            guard let next = try target.request.pagination.next(target.request, page) else { return }
            let following = try target.following(next, after: page, number: number, with: service)
            if let identity = following.identity(with: service), loops.visit(identity) {
                throw PaginationError.loop(page: number)
            }
            position = .page(following)
        } catch {
            position = .failure(service.mapError(failure(error, after: page)))
        }
    }

    /// Moves to the end for good: once a failure is reported, nothing more is read.
    mutating func end() {
        position = .end
    }

    /// Moves to the end, because of an error in the pages up to `page`.
    ///
    /// - Returns: The service's own error for `error`.
    mutating func fail(_ error: PaginationError, after page: HttpResponse<R.Result>) -> Failure {
        end()
        return service.mapError(failure(error, after: page))
    }

    /// The failure to find the next page, after the call for `page` succeeded.
    private func failure(_ thrown: any Error, after page: HttpResponse<R.Result>) -> HttpError {
        var error = HttpError(wrapping: thrown, stage: .decode, delivery: .notSent)
        error.request = page.trace.request
        error.trace = page.trace
        return error
    }
}

/// Detects when pages lead back to an earlier page, in bounded memory.
///
/// A loop of up to ``window`` pages is found at its first repetition. A longer one is found by Brent's algorithm (R. P.
/// Brent, "An improved Monte Carlo factorization algorithm", BIT 20, 1980): each page is compared with one earlier
/// page, which is replaced after twice as many pages each time.
struct PageLoops: Sendable {
    /// How many pages are remembered one by one: 8 KiB, and searched in less than a microsecond.
    static let window = 1_024

    /// Hashes of the pages visited last; the oldest is overwritten. They have 64 bits and a different seed in each
    /// process: a false match among a million pages occurs only once in ten billion runs.
    private var recent: [Int] = []
    private var oldest = 0
    private var mark: Int?
    private var stepsSinceMark = 0
    private var stepsToNextMark = 1

    /// How many pages are remembered now.
    var memory: Int { recent.count }

    /// Notes a visit to a page.
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
