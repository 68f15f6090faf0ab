import Foundation

/// A summary of a request, for errors and traces: enough to decide on a retry and to find the request in a log, but no
/// secret.
public struct RequestSummary: Hashable, Sendable, CustomStringConvertible {
    /// The method.
    public let method: HttpMethod
    /// The origin that the request was sent to first, before redirects.
    public let origin: HttpOrigin
    /// The path, without query, and percent-encoded: a decoded component could break a log line. A component that is a
    /// secret, `.sensitive(value)` in the route, is `‹redacted›`.
    public let path: String
    /// Whether the request carries an `Idempotency-Key`.
    package let hasIdempotencyKey: Bool
    /// Whether the request went to the service's own origin: only then may it carry the service's credential.
    package let isToServiceOrigin: Bool

    /// Summarises `request`; nil when its URL has no origin.
    public init?(_ request: HttpRequest, serviceOrigin: HttpOrigin) {
        guard let origin = request.origin else { return nil }
        self.method = request.method
        self.origin = origin
        self.path = request.url.path(percentEncoded: true).hiding(request.pathSecrets)
        self.hasIdempotencyKey = request.isKeyKept && request.header[.idempotencyKey] != nil
        self.isToServiceOrigin = origin == serviceOrigin
    }

    /// Whether sending the request twice has the effect of sending it once: its method is idempotent, or it has a key.
    public var isIdempotent: Bool { method.isIdempotent || hasIdempotencyKey }

    /// Method and URL, without query.
    public var description: String { "\(method) \(origin)\(path)" }
}

extension CallTrace {
    /// Where the redirects of one exchange have led.
    public struct Redirects: Hashable, Sendable {
        /// How many redirects were followed; at least 1 once one was.
        public var count = 0
        /// Whether one led to another origin, so that credentials were left behind, even if a later one led back.
        public var leftOrigin = false
        /// Whether one turned another method into GET: then the server has most probably acted on the request.
        public var becameGet = false
        /// Whether one of them set a cookie. None are kept, so a server that waits for it redirects for ever.
        public var setCookie = false

        /// Creates a summary without any redirects.
        public init() {}
    }
}
