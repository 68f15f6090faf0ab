import Foundation

extension HttpError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable, LocalizedError {
    /// The failure, its request and attempt, and the error underneath.
    ///
    /// No header, no body and no query is in it. An error that is not the framework's own is named by its type
    /// unless it describes itself: reflection could print a secret.
    public var description: String {
        var parts = ["\(request?.description ?? "A request") failed: \(kind)"]
        if attempt > 1 { parts.append("at attempt \(attempt)") }
        // A wait that the server did not ask for is told by the error underneath.
        if let retryAfter, !isRefusal, kind != .authorization {
            parts.append("the server asks to wait \(retryAfter.brief)")
        }
        if let underlying { parts.append(Self.describe(underlying)) }
        return parts.joined(separator: "; ")
    }

    /// The same as ``description``, followed by the trace.
    public var debugDescription: String {
        trace.attempts.isEmpty ? description : "\(description)\n\(trace)"
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// Shows the description and the trace: `dump` of an error leaks nothing either.
    public var customMirror: Mirror {
        Mirror(self, children: ["error": description, "trace": trace.description])
    }

    private static func describe(_ error: any Error) -> String {
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
    /// The error with its place, without the value there.
    fileprivate var withoutValues: String {
        switch self {
        case .keyNotFound(let key, let context): "no value for '\(key.stringValue)' at \(context.place)"
        case .valueNotFound(let type, let context): "null in place of \(type) at \(context.place)"
        case .typeMismatch(let type, let context): "not a \(type) at \(context.place)"
        case .dataCorrupted(let context): "unreadable data at \(context.place)"
        @unknown default: "not decodable"
        }
    }
}

extension DecodingError.Context {
    fileprivate var place: String {
        codingPath.isEmpty
            ? "the top level" : codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    }
}
