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
