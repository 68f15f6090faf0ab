import Foundation
import Nautilus

/// Checks of a transport, for its author: run all of them against a small HTTP server, and make sure that none throws.
///
/// ```swift
/// @Test(arguments: TransportConformance.checks(of: { MyTransport() }, origin: server.url))
/// func conforms(_ check: TransportConformance.Check) async throws {
///     try await check.run()
/// }
/// ```
/// Nothing here depends on a test framework, and no check waits for time to pass. A check never returns if its
/// transport hangs, so give the test a time limit. Checks do not disturb each other, so they may run at the same time
/// against one server. The guide `Testing` lists the answers that the server has to give.
public struct TransportConformance: Sendable {
    /// One promise of `HttpTransport`, with a check that it is kept.
    public struct Check: Sendable, CustomStringConvertible {
        /// The promise, as a sentence.
        public let name: String
        private let body: @Sendable () async throws -> Void

        init(_ name: String, _ body: @escaping @Sendable () async throws -> Void) {
            self.name = name
            self.body = body
        }

        /// Runs the check.
        ///
        /// - Throws: ``Failure``, or an error that the transport should not have thrown.
        public func run() async throws { try await body() }

        /// The name of the check.
        public var description: String { name }
    }

    /// The error that a promise is not kept.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The expectation, and what happened instead.
        public let description: String
    }

    /// The fields that `/headers` answers with, in this order.
    public static let responseFields: [(name: String, value: String)] = [
        ("X-Multi", "one"),
        ("X-Multi", "two"),
        ("X-Mixed-Case", "Kept"),
        ("Set-Cookie", "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/"),
        ("Set-Cookie", "b=2; Path=/"),
    ]

    let makeTransport: @Sendable () -> any HttpTransport
    let makeLimited: (@Sendable (_ limit: Int) -> any HttpTransport)?
    let streamsResponses: Bool
    let origin: URL

    /// The checks of one transport.
    ///
    /// - Parameters:
    ///   - makeTransport: Creates a transport; every check creates its own.
    ///   - makeLimited: Creates a transport that accepts response bodies up to a number of bytes. Default: nil, the
    ///     transport has no such limit, and the checks of it are left out.
    ///   - streamsResponses: Whether the transport implements `HttpTransport/stream(_:context:)` itself. Default: true;
    ///     with false, the protocol's implementation is used, and the checks of a body that is still arriving are left
    ///     out.
    ///   - origin: The server's scheme, host and port.
    public static func checks(
        of makeTransport: @escaping @Sendable () -> any HttpTransport,
        limitedBy makeLimited: (@Sendable (_ limit: Int) -> any HttpTransport)? = nil,
        streamsResponses: Bool = true,
        origin: URL
    ) -> [Check] {
        let conformance = TransportConformance(
            makeTransport: makeTransport,
            makeLimited: makeLimited,
            streamsResponses: streamsResponses,
            origin: origin
        )
        return conformance.responseChecks + conformance.requestChecks + conformance.failureChecks
            + conformance.brokenBodyChecks
            + conformance.stateChecks + conformance.streamChecks
    }
}

extension TransportConformance {
    /// Checks that an exchange leaves nothing behind for the next one.
    var stateChecks: [Check] {
        [
            Check("a cookie that the server sets is not sent back") {
                let transport = makeTransport()
                _ = try await send("/cookie", through: transport)
                let echo = try await send("/echo", through: transport)
                try expect(echo.header["Echo-Cookie"], is: nil, "the Cookie of the next request")
            },
            Check("a response that may be cached is asked for again") {
                let transport = makeTransport()
                let path = cachedPath()
                let first = try await count(of: path, through: transport)
                try expect(try await count(of: path, through: transport), is: first + 1, "the server's count")
            },
            Check("concurrent exchanges get their own answers") {
                let transport = makeTransport()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<100 {
                        group.addTask { try await expectOwnAnswer(number, through: transport) }
                    }
                    try await group.waitForAll()
                }
            },
            Check("a transport works on after a failure") {
                let transport = makeTransport()
                _ = try await expectTransportError("/drop") { try await send("/drop", through: transport) }
                try expect(try await send("/status/200", through: transport).status, is: 200, "the next status")
            },
        ]
    }

    private func expectOwnAnswer(_ number: Int, through transport: any HttpTransport) async throws {
        let body = Data("body \(number)".utf8)
        let header: HttpHeader = ["X-Number": "\(number)"]
        let target = "/echo?number=\(number)"
        let response = try await send(target, method: .post, header: header, body: body, through: transport)
        try expect(response.header["Echo-X-Number"], is: "\(number)", "the header of exchange \(number)")
        try expect(response.header["Echo-Target"], is: target, "the target of exchange \(number)")
        try expect(response.body, is: body, "the body of exchange \(number)")
    }
}

extension TransportConformance {
    /// Sends one request, on a new transport unless one is given.
    func send(
        _ path: String,
        method: HttpMethod = .get,
        header: HttpHeader = [:],
        body: Data? = nil,
        through transport: (any HttpTransport)? = nil
    ) async throws -> HttpResponse<Data> {
        let request = try request(path, method: method, header: header, body: body)
        return try await (transport ?? makeTransport()).send(request, context: context())
    }

    /// A request to the server.
    func request(
        _ path: String,
        method: HttpMethod = .get,
        header: HttpHeader = [:],
        body: Data? = nil
    ) throws -> HttpRequest {
        guard let url = URL(string: path, relativeTo: origin)?.absoluteURL else {
            throw Failure(description: "The origin cannot be used.")
        }
        return HttpRequest(method: method, url: url, header: header, body: body.map { .data($0) } ?? .empty)
    }

    /// The context of a first attempt.
    func context(_ interruption: Interruption? = nil) -> TransportContext {
        TransportContext(interruption: interruption)
    }

    /// Throws unless `actual` is `expected`.
    func expect<Value: Equatable>(_ actual: Value, is expected: Value, _ what: String) throws {
        guard actual != expected else { return }
        throw Failure(description: "Expected \(what) to be \(expected), found \(actual).")
    }

    /// Returns the ``TransportError`` that `body` throws; throws if `body` throws none.
    func expectTransportError(_ what: String, from body: () async throws -> some Sendable) async throws
        -> TransportError
    {
        do {
            _ = try await body()
        } catch let error as TransportError {
            return error
        } catch {
            throw Failure(description: "Expected \(what) to throw a TransportError, caught \(type(of: error)).")
        }
        throw Failure(description: "Expected \(what) to throw a TransportError, but it succeeded.")
    }

    /// Throws unless awaiting `task` throws `CancellationError`.
    func expectCancellation(of task: Task<HttpResponse<Data>, any Error>, _ what: String) async throws {
        switch await task.result {
        case .failure(is CancellationError): return
        case .failure(let error):
            throw Failure(description: "Expected \(what) to throw CancellationError, caught \(type(of: error)).")
        case .success(let response):
            throw Failure(description: "Expected \(what) to throw CancellationError, got \(response.status).")
        }
    }

    /// A path whose counter no other check uses, since checks may run at the same time, also for several transports.
    func cachedPath() -> String { "/cached/\(UUID().uuidString)" }

    /// How often `path`, from ``cachedPath()``, has been requested, including this time.
    func count(of path: String, through transport: any HttpTransport) async throws -> Int {
        let body = try await send(path, through: transport).body
        guard let count = Int(String(decoding: body, as: UTF8.self)) else {
            throw Failure(description: "The body of /cached is not a number.")
        }
        return count
    }

    /// The body of `/large/{count}`.
    static func largeBody(_ count: Int) -> Data {
        let period = Data((0..<251).map { UInt8($0) })
        var body = Data(capacity: count + period.count)
        while body.count < count { body += period }
        return body.prefix(count)
    }
}
