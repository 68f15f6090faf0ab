import Foundation
import Nautilus
import NautilusPages
import NautilusTesting

/// A page of a list of numbers, with all that one of the styles may need.
struct NumberPage: Codable, Sendable {
    var numbers: [Int]
    var next: String?
    var isLast: Bool?
}

/// Pages by number.
struct NumberedPages: JsonRequest, NumberPaginatedRequest {
    typealias Result = NumberPage
    var page = 1
    var route: HttpRoute { ["numbers"] }
    var query: HttpQuery { ["page": page] }

    func items(of page: NumberPage) -> [Int] { page.numbers }
}

/// Pages by number, of which one says that it is the last.
struct CountedPages: JsonRequest, NumberPaginatedRequest {
    typealias Result = NumberPage
    var page = 1
    var route: HttpRoute { ["numbers"] }
    var query: HttpQuery { ["page": page] }

    func items(of page: NumberPage) -> [Int] { page.numbers }
    func isLast(_ page: HttpResponse<NumberPage>) -> Bool { page.body.isLast == true }
}

/// Pages by cursor.
struct CursorPages: JsonRequest, CursorPaginatedRequest {
    typealias Result = NumberPage
    var cursor: String?
    var route: HttpRoute { ["numbers"] }
    var query: HttpQuery { ["cursor": cursor] }

    func items(of page: NumberPage) -> [Int] { page.numbers }
    func cursor(after page: HttpResponse<NumberPage>) -> String? { page.body.next }
}

/// Pages by a cursor in the body, as of a search.
struct SearchPages: JsonRequest, CursorPaginatedRequest {
    typealias Result = NumberPage
    var cursor: String?
    var method: HttpMethod { .post }
    var route: HttpRoute { ["search"] }
    var body: HttpBody { .json(["cursor": cursor ?? ""]) }

    func items(of page: NumberPage) -> [Int] { page.numbers }
    func cursor(after page: HttpResponse<NumberPage>) -> String? { page.body.next }
}

/// Pages by link; the page is the list.
struct LinkedPages: JsonRequest, LinkPaginatedRequest {
    typealias Result = [Int]
    var url: (any UrlConvertible)?
    var header: HttpHeader = [:]
    var route: HttpRoute { ["numbers"] }
    var query: HttpQuery { ["filter": "odd"] }
}

/// Pages by number whose way on fails.
struct FailingPages: JsonRequest, PaginatedRequest {
    struct Failure: Error {}
    typealias Result = [Int]
    var route: HttpRoute { [] }
    func next(after page: HttpResponse<[Int]>) throws -> NextPage<Self>? { throw Failure() }
}

/// Errors in a service's own words.
struct PageFailure: Error {
    let error: HttpError
    var pagination: PaginationError? { error.underlying as? PaginationError }
}

/// A service with errors of its own.
struct PageService: HttpService {
    let transport: any HttpTransport
    var clock: any Clock<Duration> = ContinuousClock()
    var header: HttpHeader = [:]
    var retrierFactory: any RetrierFactory = .never
    var apiUrl: any UrlConvertible { "https://api.example.com/v1" }

    func mapError(_ error: HttpError) -> PageFailure { PageFailure(error: error) }
}

extension AsyncSequence {
    /// All elements.
    func all() async throws -> [Element] {
        var elements: [Element] = []
        for try await element in self { elements.append(element) }
        return elements
    }

    /// Counts all elements. Untyped, so that a test need not know which systems have typed sequences.
    func count(into counter: Counter) async throws {
        for try await _ in self { counter.increment() }
    }
}

extension HttpRequest {
    /// The value of a query's item; nil when there is none.
    func query(_ name: String) -> String? {
        URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems?.first { $0.name == name }?.value
    }
}
