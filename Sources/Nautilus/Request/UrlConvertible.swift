import Foundation

/// Something that names the base of an API: `"api.example.com"`, `"http://localhost:8080/v1"`, a `URL`.
public protocol UrlConvertible: Sendable {
    /// The base as text, with or without a scheme; checked when a request is built.
    var urlString: String { get }
}

extension String: UrlConvertible {
    /// The string itself.
    public var urlString: String { self }
}

extension URL: UrlConvertible {
    /// The absolute URL.
    public var urlString: String { absoluteString }
}
