import Foundation
import Nautilus
import NautilusPages
import NautilusTesting

/// A page of a list of numbers, with all that one of the styles may need.
package struct NumberPage: Codable, Sendable {
    package var numbers: [Int]
    package var next: String?
    package var isLast: Bool?

    package init(
        numbers: [Int],
        next: String? = nil,
        isLast: Bool? = nil
    ) {
        (self.numbers, self.next, self.isLast) = (numbers, next, isLast)
    }
}

/// Pages by number.
package struct NumberedPages: JsonRequest, PaginatedRequest {
    package typealias Result = NumberPage
    package var page = 1
    package var route: HttpRoute { ["numbers"] }
    package var query: HttpQuery { ["page": page] }

    package func items(of page: NumberPage) -> [Int] { page.numbers }
    package var pagination: Pagination<Self> { .number(\.page) }

    package init(page: Int = 1) {
        self.page = page
    }
}

/// Pages by number, of which one says that it is the last.
package struct CountedPages: JsonRequest, PaginatedRequest {
    package typealias Result = NumberPage
    package var page = 1
    package var route: HttpRoute { ["numbers"] }
    package var query: HttpQuery { ["page": page] }

    package func items(of page: NumberPage) -> [Int] { page.numbers }
    package var pagination: Pagination<Self> { .number(\.page) { $0.body.isLast == true } }

    package init(page: Int = 1) {
        self.page = page
    }
}

/// Pages by cursor.
package struct CursorPages: JsonRequest, PaginatedRequest {
    package typealias Result = NumberPage
    package var cursor: String?
    package var route: HttpRoute { ["numbers"] }
    package var query: HttpQuery { ["cursor": cursor] }

    package func items(of page: NumberPage) -> [Int] { page.numbers }
    package var pagination: Pagination<Self> { .cursor(\.cursor) { $0.body.next } }

    package init(
        cursor: String? = nil
    ) {
        self.cursor = cursor
    }
}

/// Pages by a cursor in the body, as of a search.
package struct SearchPages: JsonRequest, PaginatedRequest {
    package typealias Result = NumberPage
    package var cursor: String?
    package var method: HttpMethod { .post }
    package var route: HttpRoute { ["search"] }
    package var body: HttpBody { .json(["cursor": cursor ?? ""]) }

    package func items(of page: NumberPage) -> [Int] { page.numbers }
    package var pagination: Pagination<Self> { .cursor(\.cursor) { $0.body.next } }

    package init(
        cursor: String? = nil
    ) {
        self.cursor = cursor
    }
}

/// Pages by link; the page is the list.
package struct LinkedPages: JsonRequest, PaginatedRequest {
    package typealias Result = [Int]
    package var url: (any UrlConvertible)?
    package var header: HttpHeader = [:]
    package var route: HttpRoute { ["numbers"] }
    package var query: HttpQuery { ["filter": "odd"] }
    package var pagination: Pagination<Self> { .link() }

    package init(
        url: (any UrlConvertible)? = nil,
        header: HttpHeader = [:]
    ) {
        (self.url, self.header) = (url, header)
    }
}

/// Pages by number whose way on fails.
package struct FailingPages: JsonRequest, PaginatedRequest {
    package struct Failure: Error {}
    package typealias Result = [Int]
    package var route: HttpRoute { [] }
    package var pagination: Pagination<Self> { .custom { _ in throw Failure() } }

    package init() {}
}

/// Errors in a service's own words.
package struct PageFailure: Error {
    package let error: HttpError
    package var pagination: PaginationError? { error.underlying as? PaginationError }

    package init(
        error: HttpError
    ) {
        self.error = error
    }
}

/// A service with errors of its own.
package struct PageService: HttpService {
    package let transport: any HttpTransport
    package var clock: any Clock<Duration> = ContinuousClock()
    package var header: HttpHeader = [:]
    package var retrierFactory: any RetrierFactory = .never
    package var apiUrl: any UrlConvertible { "https://api.example.com/v1" }

    package func mapError(_ error: HttpError) -> PageFailure { PageFailure(error: error) }

    package init(
        transport: any HttpTransport,
        clock: any Clock<Duration> = ContinuousClock(),
        header: HttpHeader = [:],
        retrierFactory: any RetrierFactory = .never
    ) {
        (self.transport, self.clock, self.header, self.retrierFactory) = (transport, clock, header, retrierFactory)
    }
}

extension AsyncSequence {
    /// All elements.
    package func all() async throws -> [Element] {
        var elements: [Element] = []
        for try await element in self { elements.append(element) }
        return elements
    }

    /// Counts all elements. Untyped, so that a test need not know which systems have typed sequences.
    package func count(into counter: Counter) async throws {
        for try await _ in self { counter.increment() }
    }
}

extension HttpRequest {
    /// The value of a query's item; nil when there is none.
    package func query(_ name: String) -> String? {
        URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems?.first { $0.name == name }?.value
    }
}
