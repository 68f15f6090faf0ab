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
            position = .failure(service.mapError(failure(error, after: page)))
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
        return service.mapError(failure(error, after: page))
    }

    /// The page's call went well; what it leads to did not.
    private func failure(_ thrown: any Error, after page: HttpResponse<R.Result>) -> HttpError {
        var error = HttpError(wrapping: thrown, stage: .decode, delivery: .notSent)
        error.request = page.trace.request
        error.trace = page.trace
        return error
    }
}
