import Foundation

extension AnyRequest where Result: Decodable {
    /// Creates a request whose result is JSON, or for `Data` and `String` the body as it comes; every parameter is as in
    /// ``JsonRequest``, with the same default.
    ///
    /// - Parameters:
    ///   - method: The method. No default, so that the effect of a call can be read where it is made.
    ///   - route: The path below the service's base URL.
    ///   - result: The type that the body is decoded as; `Data.self` for its bytes, `String.self` for its text in
    ///     UTF-8.
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
        ) { try Self.result(of: $0, decoder) }
    }
}

extension AnyRequest where Result: Decodable {
    private static func result(of body: Data, _ decoder: () -> JSONDecoder) throws -> Result {
        if Result.self == Data.self, let bytes = body as? Result { return bytes }
        if Result.self == String.self, let text = try body.utf8Text() as? Result { return text }
        return try decoder().decode(Result.self, from: body)
    }
}

extension AnyRequest where Result == Void {
    /// Creates a request whose response's body is ignored; every parameter is as in ``Request``, with the same default.
    ///
    /// - Parameters:
    ///   - method: The method. No default, so that the effect of a call can be read where it is made.
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
