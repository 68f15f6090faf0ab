import Foundation

extension HttpError: PrintableError, Redacted, LocalizedError {
    /// The failure, its request and attempt, the underlying error, and why no further attempt followed.
    ///
    /// Contains no header, no body and no query. Of an error from other code, it contains the error's own description,
    /// or else only its type, since reflection could print a secret.
    public var description: String {
        // If the app's code threw an error of this package, that error says what has happened.
        let own = kind == .custom ? underlying as? any PrintableError : nil
        var parts = ["\(subject) failed: \(own?.description ?? "\(kind)")"]
        if attempt > 1 { parts.append("at attempt \(attempt)") }
        // If the wait does not come from the server, the underlying error mentions it.
        if let retryAfter, !isRefusal, kind != .authorization {
            parts.append("the server asks to wait \(retryAfter.brief)")
        }
        if let unreadable { parts.append(unreadable) }
        if own == nil, let added = addition(of: underlying) { parts.append(added) }
        if let missingCookie { parts.append(missingCookie) }
        if let missingScheme { parts.append(missingScheme) }
        if let reasonToStop { parts.append("not retried: \(reasonToStop)") }
        return parts.joined(separator: "; ")
    }

    /// The same as ``description``, followed by the trace.
    public var debugDescription: String {
        trace.attempts.isEmpty ? description : "\(description)\n\(trace)"
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// Shows the description and the trace, so that not even a `dump` of the error leaks anything.
    public var customMirror: Mirror {
        Mirror(self, children: ["error": description, "trace": trace.description])
    }

    /// The request, or its type if it has no URL yet.
    private var subject: String {
        if let request { return request.description }
        return call.request.isEmpty ? "A request" : call.request
    }

    /// Why a body does not decode, if the decoder does not say: the body is empty, or it is not JSON at all.
    private var unreadable: String? {
        guard underlying is DecodingError, let response else { return nil }
        // The body of a feed is read as it arrives, so the response has none of it.
        let isFeed = response.header.mediaType?.essence == "text/event-stream"
        if response.body.isEmpty, !isFeed { return "the body is empty (\(response.status))" }
        guard let type = response.header.mediaType, !type.subtype.hasSuffix("json") else { return nil }
        return isFeed ? "in the data of an event" : "the body is \(type.essence)"
    }

    /// A hint for servers that redirect until the cookie that they have set comes back.
    private var missingCookie: String? {
        switch kind {
        case .redirect(.loop), .redirect(.tooMany): break
        default: return nil
        }
        guard redirects?.setCookie == true || response?.header[.setCookie] != nil else { return nil }
        return "a redirect set a cookie, which the server may expect; Nautilus keeps no cookies, so send it in `header`"
    }

    /// A hint for calls to local servers: a base URL without a scheme means `https`, but local servers seldom support
    /// TLS.
    private var missingScheme: String? {
        guard let origin = request?.origin, origin.scheme == "https", origin.isLoopback else { return nil }
        guard !isUnansweredByLoopbackTls else {
            return "TLS did not answer; for a local server without TLS, begin the base URL with http://"
        }
        guard case .transport(let code) = kind, Self.isHandshakeFailure(code) else { return nil }
        return "the call used https; for a local server without TLS, begin the base URL with http://"
    }

    /// Whether the attempt has timed out before anything could be sent over TLS to a server on this machine. Connecting
    /// to it takes no time. So the server does not support TLS: it takes the handshake for a request, and waits for the
    /// rest.
    var isUnansweredByLoopbackTls: Bool {
        guard delivery == .notSent, let origin = request?.origin, origin.isLoopback else { return false }
        switch kind {
        case .transport(.timedOut), .timeout: return origin.scheme == "https" || origin.scheme == "wss"
        default: return false
        }
    }

    private static func isHandshakeFailure(_ code: URLError.Code) -> Bool {
        switch code {
        // A server without TLS answers the handshake with text, or ends the connection.
        case .secureConnectionFailed, .networkConnectionLost, .cannotConnectToHost: true
        default: false
        }
    }

    /// Why the retriers did not retry; nil if the failure itself says why, or if the retriers have not decided yet.
    private var reasonToStop: RetryReason? {
        guard let decision = trace.attempts.last?.decision, decision.action == .stop else { return nil }
        switch decision.reason {
        case .notRetryable, .cancelled, nil: return nil
        case let reason?: return reason
        }
    }

    /// The text of the underlying error, without what the kind says already; nil when nothing is left, as is usual for
    /// a transport's error.
    private func addition(of underlying: (any Error)?) -> String? {
        guard let underlying else { return nil }
        var words = Self.describe(underlying)
        if let repeated = words.range(of: kind.description, options: [.anchored, .caseInsensitive]) {
            words = words[repeated.upperBound...].trimmingCharacters(in: CharacterSet(charactersIn: ".; "))
        }
        if case .transport(let code) = kind { words = words.replacing(" (URLError \(code.rawValue))", with: "") }
        return words.isEmpty ? nil : words
    }

    /// The underlying error in a few words, as the reason of a decision: `nobody is signed in`. Nil if the underlying
    /// error is not the framework's own.
    package var cause: String? {
        guard let underlying = underlying as? any PrintableError else { return nil }
        // Its first clause: the rest says what to do about the error.
        var depth = 0
        let words = underlying.description.prefix {
            depth += $0 == "(" ? 1 : $0 == ")" ? -1 : 0
            return depth > 0 || $0 != ";"
        }
        let clause = words.hasSuffix(".") ? words.dropLast() : words
        // A method or an abbreviation keeps its capitals, such as `GET`.
        guard clause.dropFirst().first?.isLowercase == true else { return String(clause) }
        return clause.prefix(1).lowercased() + clause.dropFirst()
    }

    /// The text of an underlying error, without values that may be secret.
    package static func describe(_ error: any Error) -> String {
        switch error {
        case let error as DecodingError: error.withoutValues
        // Foundation's errors print their userInfo, which holds URLs with their queries.
        case let error as any CustomNSError: "\(type(of: error)) \(error.errorCode)"
        case let error where type(of: error) is NSError.Type: "\((error as NSError).domain) \((error as NSError).code)"
        case let error as any CustomStringConvertible & Error: error.description
        case let error as any LocalizedError: error.errorDescription ?? "\(type(of: error))"
        default: "\(type(of: error))"
        }
    }
}

extension DecodingError {
    /// The error and its place in the body, without the value at that place.
    fileprivate var withoutValues: String {
        switch self {
        case .keyNotFound(let key, let context): "no value for '\([key].place)' at \(context.place)"
        case .valueNotFound(let type, let context): "null in place of \(type) at \(context.place)"
        case .typeMismatch(let type, let context): "expected \(type) at \(context.place)"
        case .dataCorrupted(let context) where context.underlyingError is any PrintableError:
            "\(context.underlyingError.map { "\($0)" } ?? "") (at \(context.place))"
        case .dataCorrupted(let context): "unreadable data at \(context.place)"
        @unknown default: "not decodable"
        }
    }
}

extension DecodingError.Context {
    fileprivate var place: String { codingPath.place }
}
