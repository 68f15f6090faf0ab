/// The pages of a list, one after the other, each a call of its own with its own retrier.
///
/// ```swift
/// for try await page in ListNotes().pages(with: service) { print(page.body.notes.count, page.header["X-Total-Count"]) }
/// ```
/// Nothing is asked for before the first page is waited for, nor after the reader has left the loop. A reader gets all
/// pages from the first one; several readers make calls of their own. After an error, and after the last page, comes
/// nil.
///
/// A list belongs to the session in which its first page was asked for. When that is over, it ends with the service's
/// error for ``RefreshError/superseded``, also when the next page has come already: it is not the next user's.
///
/// It throws `Failure`: `next()` says so everywhere, a loop where the system's sequences can (macOS 15, iOS 18 and
/// Linux), and before that the error is one by its type all the same.
public struct PageSequence<R: PaginatedRequest, Failure: Error>: AsyncSequence, Sendable {
    /// A page, with its status, its header and the trace of its call.
    public typealias Element = HttpResponse<R.Result>

    let first: R
    let service: AnyHttpService<Failure>
    let limit: Int?
    let isPrefetching: Bool

    /// A reader that begins with the first page.
    public func makeAsyncIterator() -> Iterator {
        // All pages come from where the first one does.
        let service = service.final
        return Iterator(
            reader: PageReader(first: first, service: service, limit: limit),
            service: service,
            isPrefetching: isPrefetching
        )
    }

    /// A reader of pages; a value that may be read on any actor, by one reader at a time.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private var reader: PageReader<R, Failure>
        private let service: AnyHttpService<Failure>
        private let calls = CallSequence()
        private let isPrefetching: Bool
        private var prefetch: PagePrefetch<Element, Failure>?

        init(reader: PageReader<R, Failure>, service: AnyHttpService<Failure>, isPrefetching: Bool) {
            self.reader = reader
            self.service = service
            self.isPrefetching = isPrefetching
        }

        /// The next page; nil when there is none, and after an error.
        ///
        /// - Throws: The service's own error, made by ``HttpService/mapError(_:)`` from the page's call, or from a
        ///   ``PaginationError`` underneath an `HttpError` of kind `custom`.
        public mutating func next() async throws(Failure) -> Element? {
            switch reader.position {
            case .end:
                return nil
            case .failure(let failure):
                reader.end()
                throw failure
            case .page(let target):
                let page: Element
                do throws(Failure) {
                    // Neither a page that is here already nor one that comes now is for the next user's screen.
                    try checkSession()
                    page = try await self.page(at: target)
                    try checkSession()
                } catch {
                    end()
                    throw error
                }
                reader.advance(from: target, after: page)
                if isPrefetching, case .page(let next) = reader.position {
                    prefetch = PagePrefetch { [service, calls] () async throws(Failure) in
                        try await next.response(with: service, in: calls)
                    }
                }
                return page
            }
        }

        /// Whether a page is to be asked for next.
        var hasMore: Bool {
            if case .page = reader.position { true } else { false }
        }

        /// Looks whether the session goes on that the first page was read in.
        ///
        /// - Throws: The service's own error of its end.
        func checkSession() throws(Failure) {
            if let end = calls.endOfSession { throw service.mapped(end) }
        }

        /// Ends the reading.
        mutating func end() {
            prefetch = nil
            reader.end()
        }

        /// Ends the reading, because of what has come so far.
        ///
        /// - Returns: The service's own error for it.
        mutating func end(_ error: PaginationError, after page: Element) -> Failure {
            prefetch = nil
            return reader.fail(error, after: page)
        }

        private mutating func page(at target: PageTarget<R>) async throws(Failure) -> Element {
            defer { prefetch = nil }
            guard let prefetch else { return try await target.response(with: service, in: calls) }
            return try await prefetch.page()
        }
    }
}

/// The items of a list, page by page: those of one page at once, then the next page's call.
///
/// ```swift
/// for try await note in ListNotes().items(with: service) { print(note.title) }
/// ```
/// A page without items is passed over; after 1 000 in a row a ``PaginationError`` is thrown, since a server that sends
/// empty pages for ever would never release its reader. Everything else is as in ``PageSequence``.
public struct ItemSequence<R: PaginatedRequest, Failure: Error>: AsyncSequence, Sendable {
    /// An item of a page.
    public typealias Element = R.Item

    let pages: PageSequence<R, Failure>

    /// A reader that begins with the first page.
    public func makeAsyncIterator() -> Iterator {
        Iterator(pages: pages.makeAsyncIterator(), request: pages.first)
    }

    /// A reader of items; a value that may be read on any actor, by one reader at a time.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private var pages: PageSequence<R, Failure>.Iterator
        private let request: R
        private var items: ArraySlice<R.Item> = []
        /// How many pages without items have come one after the other.
        private var emptyCount = 0

        /// The most pages without items that are passed over: more than a filtered list has.
        private static var maxEmptyCount: Int { 1_000 }

        init(pages: PageSequence<R, Failure>.Iterator, request: R) {
            self.pages = pages
            self.request = request
        }

        /// The next item; nil when there is none, and after an error.
        ///
        /// - Throws: As the pages do, and of a ``PaginationError`` after too many pages without items.
        public mutating func next() async throws(Failure) -> R.Item? {
            while true {
                if !items.isEmpty {
                    do throws(Failure) {
                        try pages.checkSession()
                    } catch {
                        items = []
                        pages.end()
                        throw error
                    }
                }
                if let item = items.popFirst() { return item }
                // Releases the page that was read before the next one comes.
                items = []
                guard let page = try await pages.next() else { return nil }
                items = request.items(of: page.body)[...]
                emptyCount = items.isEmpty ? emptyCount + 1 : 0
                if emptyCount >= Self.maxEmptyCount, pages.hasMore {
                    throw pages.end(.onlyEmptyPages(count: emptyCount), after: page)
                }
            }
        }
    }
}

/// One page on its way while the one before is being read; releasing it cancels the call.
final class PagePrefetch<Page: Sendable, Failure: Error>: Sendable {
    private let outcome: Locked<Result<Page, Failure>?>
    private let task: Task<Void, Never>

    init(_ fetch: @escaping @Sendable () async throws(Failure) -> Page) {
        // Not the object itself, so that the task does not keep it.
        let outcome = Locked<Result<Page, Failure>?>(nil)
        self.outcome = outcome
        self.task = BackgroundTask.startForCaller {
            let result = await Result { () async throws(Failure) in try await fetch() }
            outcome.withLock { $0 = result }
        }
    }

    deinit {
        task.cancel()
    }

    /// The page, once it is there. Cancelling the caller's task cancels the call.
    func page() async throws(Failure) -> Page {
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        guard let outcome = outcome.withLock({ $0 }) else {
            // The task's last act was to set it.
            preconditionFailure("the call ended without an outcome")
        }
        return try outcome.get()
    }
}
