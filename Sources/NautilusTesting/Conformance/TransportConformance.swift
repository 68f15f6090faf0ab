import Foundation
import Nautilus

/// Checks of a transport, for its author: run them all against a small HTTP server and see that none throws.
///
/// ```swift
/// @Test(arguments: TransportConformance.checks(of: { MyTransport() }, origin: server.url))
/// func conforms(_ check: TransportConformance.Check) async throws {
///     try await check.run()
/// }
/// ```
/// Nothing here depends on a test framework, and no check waits for time to pass. A check whose transport hangs does
/// not return: give the test a time limit. Checks do not disturb each other, so they may run at once against one
/// server.
///
/// ## What the server does
/// | path | answer |
/// |---|---|
/// | `/status/{code}` | that status and the text `status {code}`; no body for 204 and 304 |
/// | `/echo` | 200 and the request's body; `Echo-Method` and `Echo-Target` say what was asked, and every request field `X-…`, `Cookie` and `Authorization` comes back as `Echo-{name}` |
/// | `/redirect` | 302, `Location: /echo`, and the text `moved` |
/// | `/headers` | 200, with the fields of ``responseFields`` |
/// | `/large/{count}` | 200 and `count` bytes; the byte at index `i` is `i % 251` |
/// | `/cookie` | 200, `Set-Cookie: session=secret; Path=/` |
/// | `/cached/{name}` | 200, `Cache-Control: max-age=3600` and `ETag: "1"`; the body is how often this very path was asked for |
/// | `/basic-401` | 401, `WWW-Authenticate: Basic realm="conformance"` and the text `who are you` |
/// | `/drop` | reads the request and closes the connection |
/// | `/truncated` | `Content-Length: 100`, ten bytes, and closes the connection |
/// | `/stalled` | `Content-Length: 100`, ten digits, and nothing more; the connection stays open |
/// | `/hang` | reads the request and never answers |
///
/// HEAD gets the same header and no body.
public struct TransportConformance: Sendable {
    /// One promise of ``HttpTransport``, and how to see whether it is kept.
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
        /// - Throws: ``Failure``, or what the transport threw where it should not have.
        public func run() async throws { try await body() }

        /// The name.
        public var description: String { name }
    }

    /// A promise that is not kept.
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
    ///   - makeTransport: Makes a transport; every check makes its own.
    ///   - makeLimited: Makes one that takes response bodies up to a number of bytes; nil, the default, when the
    ///     transport has no such limit, which leaves that check out.
    ///   - streamsResponses: Whether ``HttpTransport/stream(_:context:)`` is its own. Default: true; false for a
    ///     transport that leaves it to the protocol, which leaves out the checks of a body that is still to come.
    ///   - origin: Where the server is: scheme, host and port.
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
            + conformance.stateChecks + conformance.streamChecks
    }
}
