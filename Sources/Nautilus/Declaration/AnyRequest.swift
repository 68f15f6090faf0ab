import Foundation

/// A request from values, written where it is called, or any request with its type erased.
///
/// ```swift
/// let note = try await AnyRequest(.get, ["notes", 7], as: Note.self).schedule(with: service)
///
/// var search: AnyRequest<[Note]> = AnyRequest(FindNotes(tags: ["sea"]))
/// ```
/// Only the result's type remains. Other properties of a request, such as its timeout, are set with
/// ``Request/with(_:)``. A request that is made in more than one place deserves a named type of its own.
public struct AnyRequest<Result: Sendable>: ForwardingRequest {
    package let forwarded: any Request
    private let make: @Sendable (Data) throws -> Result
    private let makeFromResponse: @Sendable (HttpResponse<Data>) throws -> Result
    private let makeFromStream: @Sendable (HttpResponse<HttpBodyStream>) async throws -> Result

    /// Erases the type of `request`. Its properties are still read again for every attempt.
    public init<R: Request>(_ request: R) where R.Result == Result {
        self.forwarded = request
        self.make = { try request.decode($0) }
        self.makeFromResponse = { try request.decode($0) }
        self.makeFromStream = { try await request.decode($0) }
    }

    /// Creates a request from values; every parameter is as in ``Request``, with the same default.
    ///
    /// - Parameters:
    ///   - method: The method. It has no default, so that every call shows in the source what it does.
    ///   - route: The path below the service's base URL.
    ///   - decode: Makes the result from the response's body.
    public init(
        _ method: HttpMethod,
        _ route: HttpRoute,
        query: HttpQuery = [:],
        header: HttpHeader = [:],
        body: HttpBody = .empty,
        decode: @escaping @Sendable (Data) throws -> Result
    ) {
        self.init(RequestValues(method: method, route: route, query: query, header: header, body: body), decode) {
            try Self.result(of: $0, decode)
        }
    }

    private init(
        _ values: RequestValues,
        _ make: @escaping @Sendable (Data) throws -> Result,
        _ makeFromResponse: @escaping @Sendable (HttpResponse<Data>) throws -> Result
    ) {
        (self.forwarded, self.make, self.makeFromResponse) = (values, make, makeFromResponse)
        self.makeFromStream = { try makeFromResponse($0.replacingBody(try await $0.wholeBody())) }
    }

    private static func result(
        of response: HttpResponse<Data>,
        _ decode: (Data) throws -> Result
    ) throws -> Result {
        guard Result.self == String.self else { return try decode(response.body) }
        return try JsonCoders.reading(response.header.textCharset) { try decode(response.body) }
    }

    /// As the wrapped request does.
    public func decode(_ data: Data) throws -> Result { try make(data) }
    /// As the wrapped request does.
    public func decode(_ response: HttpResponse<Data>) throws -> Result { try makeFromResponse(response) }
    /// As the wrapped request does.
    public func decode(_ response: HttpResponse<HttpBodyStream>) async throws -> Result {
        try await makeFromStream(response)
    }
}

/// A request that is nothing but its values.
private struct RequestValues: Request {
    typealias Result = Void

    let method: HttpMethod
    let route: HttpRoute
    let query: HttpQuery
    let header: HttpHeader
    let body: HttpBody
    var streamsResponse = false
}

extension AnyRequest where Result: Decodable {
    /// Creates a request whose result is JSON, or, for `Data` and `String`, the body as received; every parameter is as
    /// in ``JsonRequest``, with the same default. An optional result is nil for an empty body, for 204 and for 205.
    ///
    /// - Parameters:
    ///   - method: The method. It has no default, so that every call shows in the source what it does.
    ///   - route: The path below the service's base URL.
    ///   - result: The type that the body is decoded as; `Data.self` for its bytes, `String.self` for its text, by
    ///     its charset.
    ///   - decoder: Makes the decoder, once for each response. Default: one of the service's ``HttpService/coders``.
    public init(
        _ method: HttpMethod,
        _ route: HttpRoute,
        query: HttpQuery = [:],
        header: HttpHeader = [:],
        body: HttpBody = .empty,
        as result: Result.Type,
        decoder: @escaping @Sendable () -> JSONDecoder = { JsonCoders.current.decoder() }
    ) {
        let values = RequestValues(method: method, route: route, query: query, header: header, body: body)
        self.init(values, { try Self.result(of: $0, decoder) }, { try Self.result(of: $0, decoder) })
    }
}

extension AnyRequest where Result: Decodable {
    private static func result(of response: HttpResponse<Data>, _ decoder: () -> JSONDecoder) throws -> Result {
        if response.hasNoContent, let nothing = OptionalResult<Result>.nothing { return nothing }
        return try result(of: response) { body in try result(of: body, decoder) }
    }

    private static func result(of body: Data, _ decoder: () -> JSONDecoder) throws -> Result {
        if body.isEmpty, let nothing = OptionalResult<Result>.nothing { return nothing }
        if Result.self == Data.self, let bytes = body as? Result { return bytes }
        if Result.self == String.self {
            let text = try body.text(in: JsonCoders.current.charset)
            if let text = text as? Result { return text }
        }
        return try decoder().decode(Result.self, from: body)
    }
}

extension AnyRequest where Result == HttpBodyStream {
    /// Creates a request whose response body is read as it arrives; every parameter is as in ``Request``, with the same
    /// default.
    ///
    /// - Parameters:
    ///   - method: The method. It has no default, so that every call shows in the source what it does.
    ///   - route: The path below the service's base URL.
    ///   - result: `HttpBodyStream.self`.
    public init(
        _ method: HttpMethod,
        _ route: HttpRoute,
        query: HttpQuery = [:],
        header: HttpHeader = [:],
        body: HttpBody = .empty,
        as result: HttpBodyStream.Type
    ) {
        self.forwarded = RequestValues(
            method: method,
            route: route,
            query: query,
            header: header,
            body: body,
            streamsResponse: true
        )
        self.make = { HttpBodyStream($0) }
        self.makeFromResponse = { HttpBodyStream($0.body) }
        self.makeFromStream = { $0.body }
    }
}

extension AnyRequest where Result == Void {
    /// Creates a request whose response body is ignored; every parameter is as in ``Request``, with the same default.
    ///
    /// - Parameters:
    ///   - method: The method. It has no default, so that every call shows in the source what it does.
    ///   - route: The path below the service's base URL.
    public init(
        _ method: HttpMethod,
        _ route: HttpRoute,
        query: HttpQuery = [:],
        header: HttpHeader = [:],
        body: HttpBody = .empty
    ) {
        self.init(method, route, query: query, header: header, body: body) { _ in }
    }
}
