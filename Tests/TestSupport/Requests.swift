import Foundation
import Nautilus

/// A request of which each test sets what it is about.
package struct Ping: Request {
    package typealias Result = String

    package var method: HttpMethod = .get
    package var route: HttpRoute = ["things"]
    package var header: HttpHeader = [:]
    package var body: HttpBody = .empty
    package var acceptedStatusCodes: HttpStatusCodes = .success
    package var timeout: Duration?
    package var deadline: Duration?
    package var url: (any UrlConvertible)?
    package var priority: HttpRequest.Priority = .normal
    package var allowsHedging = true
    package var allowsBodyAcrossOrigins = true

    package static var get: Ping { Ping() }
    package static var post: Ping { Ping(method: .post, body: .data(Data("payload".utf8))) }
    package static var keyedPost: Ping {
        Ping(method: .post, header: ["Idempotency-Key": "key-1"], body: .data(Data("payload".utf8)))
    }

    package init(
        method: HttpMethod = .get,
        route: HttpRoute = ["things"],
        header: HttpHeader = [:],
        body: HttpBody = .empty,
        acceptedStatusCodes: HttpStatusCodes = .success,
        timeout: Duration? = nil,
        deadline: Duration? = nil,
        url: (any UrlConvertible)? = nil,
        priority: HttpRequest.Priority = .normal,
        allowsHedging: Bool = true,
        allowsBodyAcrossOrigins: Bool = true
    ) {
        self.method = method
        self.route = route
        self.header = header
        self.body = body
        self.acceptedStatusCodes = acceptedStatusCodes
        self.timeout = timeout
        self.deadline = deadline
        self.url = url
        self.priority = priority
        self.allowsHedging = allowsHedging
        self.allowsBodyAcrossOrigins = allowsBodyAcrossOrigins
    }
}

/// A body that does not decode.
package struct Undecodable: Request {
    package typealias Result = String
    package var route: HttpRoute { [] }

    package struct Failure: Error {
        package init() {}
    }

    package func decode(_ data: Data) throws -> String { throw Failure() }

    package init() {}
}
