import Foundation
import Nautilus
import NautilusPages

/// A page of a list whose server says in the items whose it is.
struct ItemPage: Codable, Sendable {
    let items: [String]
    let next: String?
}

struct ListItems: JsonRequest, PaginatedRequest {
    typealias Result = ItemPage
    let id: String
    var cursor: String?
    var route: HttpRoute { ["lists", id] }
    var query: HttpQuery { ["cursor": cursor] }

    func items(of page: ItemPage) -> [String] { page.items }
    var pagination: Pagination<Self> { .cursor(\.cursor) { $0.body.next } }
}

struct Feed: Request {
    typealias Result = HttpBodyStream
    let id: String
    var route: HttpRoute { ["feeds", id] }
}
