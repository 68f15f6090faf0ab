import Nautilus

/// The pages of a list in order, each fetched by a call of its own with its own retrier.
/// ```swift
/// for try await page in ListNotes().pages(with: service) {
///     print(page.body.notes.count, page.header["X-Total-Count"])
/// }
/// ```
/// No call is made before a reader waits for the first page, nor after it has left the loop. Each reader gets all pages
/// from the first one, by calls of its own. After an error or the last page, the reader gets nil.
///
/// A list belongs to the session in which its reader was made. When that session is over, the sequence ends with the
/// service's error for the `RefreshError` that says how: a page that arrives later is not for the next user. The errors
/// are of type `Failure`, although a loop on systems before macOS 15 and iOS 18 has `any Error`.
public struct PageSequence<R: PaginatedRequest, Failure: Error>: AsyncSequence, Sendable {
    /// A page, with its status, its header and the trace of its call.
    public typealias Element = HttpResponse<R.Result>

    let first: R
    let service: AnyHttpService<Failure>
    let limit: Int?
    let isPrefetching: Bool

    /// Creates a reader that begins with the first page.
    public func makeAsyncIterator() -> Iterator {
        // All pages come from the service that is selected now.
        let service = AnyHttpService(BoundService(service))
        return Iterator(
            reader: PageReader(first: first, service: service, limit: limit),
            service: service,
            calls: first.bound(to: service),
            isPrefetching: isPrefetching
        )
    }

    /// A reader of pages; a value that may be used on any actor, by one task at a time.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private var reader: PageReader<R, Failure>
        private let service: AnyHttpService<Failure>
        /// The call for the first page, which all others continue.
        private let calls: CallBinding<R>
        private var hasBegun = false
        private let isPrefetching: Bool
        private var prefetch: PagePrefetch<Element, Failure>?

        init(
            reader: PageReader<R, Failure>,
            service: AnyHttpService<Failure>,
            calls: CallBinding<R>,
            isPrefetching: Bool
        ) {
            (self.reader, self.service, self.calls) = (reader, service, calls)
            self.isPrefetching = isPrefetching
        }

        /// Returns the next page; nil when there is none, and after an error.
        ///
        /// - Throws: The service's own error, made by `HttpService/mapError(_:)` from the page's call, or from a
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
                    // A page must not be shown to the next user, whether it is here already or arrives now.
                    try checkSession()
                    try checkCancellation()
                    page = try await self.page(at: target)
                    try checkSession()
                    try checkCancellation()
                } catch {
                    end()
                    throw error
                }
                reader.advance(from: target, after: page)
                if isPrefetching, case .page(let next) = reader.position {
                    prefetch = PagePrefetch { [service, calls] () async throws(Failure) in
                        try await next.response(with: service, continuing: calls)
                    }
                }
                return page
            }
        }

        /// Whether there is another page to fetch.
        var hasMore: Bool {
            if case .page = reader.position { true } else { false }
        }

        /// Checks that the session in which the first page was read still goes on.
        ///
        /// - Throws: The service's own error for the end of the session.
        func checkSession() throws(Failure) {
            if let end = calls.sessions.end { throw service.mapError(end) }
        }

        /// Checks that the reader's task has not been cancelled.
        ///
        /// - Throws: The service's own error for the cancellation.
        func checkCancellation() throws(Failure) {
            guard Task.isCancelled else { return }
            throw service.mapError(HttpError(wrapping: CancellationError(), stage: .send, delivery: .maybeExecuted))
        }

        /// Ends the reading.
        mutating func end() {
            prefetch = nil
            reader.end()
        }

        /// Ends the reading, because of an error in the pages so far.
        ///
        /// - Returns: The service's own error for it.
        mutating func end(_ error: PaginationError, after page: Element) -> Failure {
            prefetch = nil
            return reader.fail(error, after: page)
        }

        private mutating func page(at target: PageTarget<R>) async throws(Failure) -> Element {
            defer { (prefetch, hasBegun) = (nil, true) }
            if !hasBegun { return try await calls.run(for: service) }
            guard let prefetch else { return try await target.response(with: service, continuing: calls) }
            return try await prefetch.page()
        }
    }
}

/// The items of a list: when those of one page have been read, the next page is called for.
/// ```swift
/// for try await note in ListNotes().items(with: service) { print(note.title) }
/// ```
/// Pages without items are skipped. After 1 000 of them in a row a ``PaginationError`` is thrown, since otherwise a
/// server that sends empty pages for ever would never release its reader. Everything else is as in ``PageSequence``.
///
/// Its type names the items and the error, and not the request, so that an API module need not publish its requests:
/// ```swift
/// public func notes() -> ItemSequence<Note, NotesError> { ListNotes().items(with: self) }
/// ```
public struct ItemSequence<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
    private let makeReader: @Sendable () -> any ItemReader<Element, Failure>

    init<R: PaginatedRequest>(pages: PageSequence<R, Failure>) where R.Item == Element {
        makeReader = { PagedItems(pages: pages.makeAsyncIterator(), request: pages.first) }
    }

    /// Creates a reader that begins with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: makeReader()) }

    /// Reads all items, for a list that fits into memory; the sequence's `pageLimit` bounds how much is read.
    ///
    /// ```swift
    /// let notes = try await ListNotes().items(with: service, pageLimit: 20).collected()
    /// ```
    /// - Throws: The errors of the pages, after which nothing of what was read is returned.
    public func collected() async throws(Failure) -> [Element] {
        var (items, reader) = ([Element](), makeAsyncIterator())
        while let item = try await reader.next() { items.append(item) }
        return items
    }

    /// A reader of items; a value that may be used on any actor, by one task at a time.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate var reader: any ItemReader<Element, Failure>

        /// Returns the next item; nil when there is none, and after an error.
        ///
        /// - Throws: The errors of the pages, and the service's own error for a ``PaginationError`` after too many
        ///   pages without items.
        public mutating func next() async throws(Failure) -> Element? { try await reader.next() }
    }
}

/// A reader of the items of some request's pages.
private protocol ItemReader<Item, Failure>: Sendable {
    associatedtype Item: Sendable
    associatedtype Failure: Error
    mutating func next() async throws(Failure) -> Item?
}

private struct PagedItems<R: PaginatedRequest, Failure: Error>: ItemReader {
    private var pages: PageSequence<R, Failure>.Iterator
    private let request: R
    private var items: ArraySlice<R.Item> = []
    /// How many pages without items have come in a row.
    private var emptyCount = 0

    /// The most pages without items in a row: more than a filtered list has.
    private static var maxEmptyCount: Int { 1_000 }

    init(pages: PageSequence<R, Failure>.Iterator, request: R) {
        self.pages = pages
        self.request = request
    }

    mutating func next() async throws(Failure) -> R.Item? {
        while true {
            if !items.isEmpty {
                do throws(Failure) {
                    try pages.checkSession()
                    try pages.checkCancellation()
                } catch {
                    items = []
                    pages.end()
                    throw error
                }
            }
            if let item = items.popFirst() { return item }
            // Releases the page that was read, before the next one arrives.
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

/// A call for the next page while the current one is being read. Releasing the object cancels the call.
final class PagePrefetch<Page: Sendable, Failure: Error>: Sendable {
    private let outcome: Locked<Result<Page, Failure>?>
    private let task: Task<Void, Never>

    init(_ fetch: @escaping @Sendable () async throws(Failure) -> Page) {
        // The task captures the outcome and not the object, so that it does not keep the object alive.
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

    /// Waits for the page. Cancelling the caller's task cancels the call.
    func page() async throws(Failure) -> Page {
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        guard let outcome = outcome.withLock({ $0 }) else {
            // The task sets the outcome before it ends.
            preconditionFailure("the call ended without an outcome")
        }
        return try outcome.get()
    }
}

extension PageSequence.Iterator: Redacted {
    /// The type alone: the next page's URL may hold a secret.
    public var description: String { "PageSequence.Iterator" }
}

extension ItemSequence.Iterator: Redacted {
    /// The type alone: the next page's URL may hold a secret.
    public var description: String { "ItemSequence.Iterator" }
}
