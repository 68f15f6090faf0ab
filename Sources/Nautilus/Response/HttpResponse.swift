import Foundation

/// What came back: the bytes inside the call, the decoded result outside of it.
public struct HttpResponse<Body: Sendable>: Sendable {
    /// The status code.
    public var status: Int
    /// The header.
    public var header: HttpHeader
    /// The body.
    public var body: Body
    /// Where the answer came from, after redirects; nil when nothing was sent (a hook or a cache answered).
    public var url: URL?
    /// What happened on the way; empty inside the call, where it is not over yet.
    public var trace: CallTrace {
        get { keptTrace?.trace ?? CallTrace() }
        set { keptTrace = KeptTrace(newValue) }
    }
    /// Beside the response, which is copied on its way through the call and has no trace there; nil for an empty one.
    private var keptTrace: KeptTrace?
    /// The body of a response that is read while it comes; nil when it has come, or was made here.
    var stream: HttpBodyStream?

    /// Whether the body is still to come, and is none of an interceptor's business: ``body`` is empty then.
    public var isStreamed: Bool { stream != nil }

    /// Creates a response, as a transport, an interceptor or a hook does. Its trace is empty: the call fills it in.
    ///
    /// - Parameters:
    ///   - status: The status code. Default: 200, since who answers in place of a server mostly answers well.
    ///   - header: The header. Default: none.
    ///   - body: The body.
    ///   - url: Where the answer came from. Default: nil, nothing was sent.
    public init(status: Int = 200, header: HttpHeader = [:], body: Body, url: URL? = nil) {
        self.init(status: status, header: header, body: body, url: url, keptTrace: nil)
    }

    private init(status: Int, header: HttpHeader, body: Body, url: URL?, keptTrace: KeptTrace?) {
        self.status = status
        self.header = header
        self.body = body
        self.url = url
        self.keptTrace = keptTrace
    }

    /// The same response with another body.
    public func replacingBody<Other: Sendable>(_ body: Other) -> HttpResponse<Other> {
        HttpResponse<Other>(status: status, header: header, body: body, url: url, keptTrace: keptTrace)
    }
}

private final class KeptTrace: Sendable {
    let trace: CallTrace

    init(_ trace: CallTrace) {
        self.trace = trace
    }
}

extension HttpResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Status and URL without its query; never the body.
    public var description: String {
        url.map { "\(status) from \($0.withoutSecrets)" } ?? "\(status)"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows status, URL and the redacted header, never the body.
    public var customMirror: Mirror {
        Mirror(self, children: ["response": description, "header": header.description])
    }
}
