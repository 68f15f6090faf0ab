import Foundation

extension AnyRequest where Result: Decodable {
    /// Creates a request whose result is JSON; every parameter is as in ``JsonRequest``, with the same default.
    ///
    /// - Parameters:
    ///   - method: The method. No default, so that what a call does can be read where it is made.
    ///   - route: The path below the service's base URL.
    ///   - result: What the body is decoded as.
    ///   - decoder: Makes the decoder, once for each response. Default: names as they are.
    public init(
        _ method: HttpMethod,
        _ route: HttpRoute,
        query: HttpQuery = [:],
        header: HttpHeader = [:],
        body: HttpBody = .empty,
        acceptedStatusCodes: HttpStatusCodes = .success,
        timeout: Duration? = .seconds(60),
        deadline: Duration? = nil,
        as result: Result.Type,
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) {
        self.init(
            method,
            route,
            query: query,
            header: header,
            body: body,
            acceptedStatusCodes: acceptedStatusCodes,
            timeout: timeout,
            deadline: deadline
        ) { try decoder().decode(Result.self, from: $0) }
    }
}

extension AnyRequest where Result == Void {
    /// Creates a request whose response's body is ignored; every parameter is as in ``Request``, with the same default.
    ///
    /// - Parameters:
    ///   - method: The method. No default, so that what a call does can be read where it is made.
    ///   - route: The path below the service's base URL.
    public init(
        _ method: HttpMethod,
        _ route: HttpRoute,
        query: HttpQuery = [:],
        header: HttpHeader = [:],
        body: HttpBody = .empty,
        acceptedStatusCodes: HttpStatusCodes = .success,
        timeout: Duration? = .seconds(60),
        deadline: Duration? = nil
    ) {
        self.init(
            method,
            route,
            query: query,
            header: header,
            body: body,
            acceptedStatusCodes: acceptedStatusCodes,
            timeout: timeout,
            deadline: deadline
        ) { _ in }
    }
}

extension AnyRequest where Result == Data {
    /// Creates a request whose result are the bytes as they come; every parameter is as in ``Request``, with the same
    /// default.
    ///
    /// - Parameters:
    ///   - method: The method. No default, so that what a call does can be read where it is made.
    ///   - route: The path below the service's base URL.
    ///   - result: `Data.self`.
    public init(
        _ method: HttpMethod,
        _ route: HttpRoute,
        query: HttpQuery = [:],
        header: HttpHeader = [:],
        body: HttpBody = .empty,
        acceptedStatusCodes: HttpStatusCodes = .success,
        timeout: Duration? = .seconds(60),
        deadline: Duration? = nil,
        as result: Data.Type
    ) {
        self.init(
            method,
            route,
            query: query,
            header: header,
            body: body,
            acceptedStatusCodes: acceptedStatusCodes,
            timeout: timeout,
            deadline: deadline
        ) { $0 }
    }
}

extension AnyRequest where Result == String {
    /// Creates a request whose result is the body as UTF-8 text; every parameter is as in ``Request``, with the same
    /// default.
    ///
    /// - Parameters:
    ///   - method: The method. No default, so that what a call does can be read where it is made.
    ///   - route: The path below the service's base URL.
    ///   - result: `String.self`.
    public init(
        _ method: HttpMethod,
        _ route: HttpRoute,
        query: HttpQuery = [:],
        header: HttpHeader = [:],
        body: HttpBody = .empty,
        acceptedStatusCodes: HttpStatusCodes = .success,
        timeout: Duration? = .seconds(60),
        deadline: Duration? = nil,
        as result: String.Type
    ) {
        self.init(
            method,
            route,
            query: query,
            header: header,
            body: body,
            acceptedStatusCodes: acceptedStatusCodes,
            timeout: timeout,
            deadline: deadline
        ) { try $0.utf8Text() }
    }
}
