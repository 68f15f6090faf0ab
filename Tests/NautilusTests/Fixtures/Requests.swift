import Foundation
import Nautilus

/// A request of which each test sets what it is about.
struct Ping: Request {
    typealias Result = String

    var method: HttpMethod = .get
    var route: HttpRoute = ["things"]
    var header: HttpHeader = [:]
    var body: HttpBody = .empty
    var acceptedStatusCodes: HttpStatusCodes = .success
    var timeout: Duration?
    var deadline: Duration?
    var url: (any UrlConvertible)?
    var priority: RequestPriority = .normal
    var allowsHedging = true
    var allowsBodyAcrossOrigins = true

    static var get: Ping { Ping() }
    static var post: Ping { Ping(method: .post, body: .data(Data("payload".utf8))) }
    static var keyedPost: Ping {
        Ping(method: .post, header: ["Idempotency-Key": "key-1"], body: .data(Data("payload".utf8)))
    }
}

/// A body that does not decode.
struct Undecodable: Request {
    typealias Result = String
    var route: HttpRoute { [] }

    struct Failure: Error {}

    func decode(_ data: Data) throws -> String { throw Failure() }
}
