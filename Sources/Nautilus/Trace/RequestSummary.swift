import Foundation

/// An error's summary of its request: enough to decide on a retry and to find it in a log, and no secret.
public struct RequestSummary: Hashable, Sendable, CustomStringConvertible {
    /// The method.
    public let method: HttpMethod
    /// Where it was sent first, before redirects.
    public let origin: HttpOrigin
    /// The path, without query, and percent-encoded: decoded, a component could break the line of a log.
    public let path: String
    /// Whether it carries an `Idempotency-Key`.
    public let hasIdempotencyKey: Bool
    /// Whether it went to the service's own origin: only then may the service's credential be on it.
    public let isToServiceOrigin: Bool

    /// Sums up `request`; nil when its URL has no origin.
    public init?(_ request: HttpRequest, serviceOrigin: HttpOrigin) {
        guard let origin = request.origin else { return nil }
        self.method = request.method
        self.origin = origin
        self.path = request.url.path(percentEncoded: true)
        self.hasIdempotencyKey = request.header[.idempotencyKey] != nil
        self.isToServiceOrigin = origin == serviceOrigin
    }

    /// Whether sending it twice has the effect of sending it once: its method is idempotent, or it has a key.
    public var isIdempotent: Bool { method.isIdempotent || hasIdempotencyKey }

    /// Method and URL, without query.
    public var description: String { "\(method) \(origin)\(path)" }
}

/// Where the redirects of one exchange have led.
public struct RedirectSummary: Hashable, Sendable {
    /// How many were followed, at least 1.
    public var count = 0
    /// Whether one led to another origin, so that credentials were left behind, also when a later one led back.
    public var leftOrigin = false
    /// Whether one made a GET of another method: then the server has acted on the request, most probably.
    public var becameGet = false

    /// Creates the summary of no redirect.
    public init() {}
}

/// Where on the path of a call something failed.
public enum CallStage: String, Hashable, Sendable {
    /// A hook threw before anything was built.
    case hook
    /// Headers, URL and body did not make a request.
    case build
    /// An interceptor threw.
    case intercept
    /// The retrier's last look failed: no credential.
    case prepare
    /// The exchange failed.
    case send
    /// A redirect was refused.
    case redirect
    /// The status was not an accepted one.
    case validate
    /// The body did not decode.
    case decode
    /// Between two attempts: the retrier's decision, or the delay.
    case retry
}
