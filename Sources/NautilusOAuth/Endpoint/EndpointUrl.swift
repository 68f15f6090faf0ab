import Foundation
import Nautilus

/// A URL that secrets may go to: `https`, or `http` to this machine (RFC 6749 §3.1 and §3.2, RFC 8252 §7.3).
struct EndpointUrl: Sendable {
    private let base: BaseUrl
    /// The URL as it was written.
    let text: String

    /// Reads a URL.
    ///
    /// - Parameter name: Its name in the metadata (RFC 8414 §2), for the error.
    /// - Throws: ``OAuthError/Kind/insecureUrl``, ``OAuthError/Kind/invalidParameter(reason:)``; neither repeats the
    ///   URL.
    init(_ text: String, name: String) throws(OAuthError) {
        do {
            base = try BaseUrl(text, isSecure: true)
        } catch {
            throw OAuthError(.invalidParameter(reason: "\(name): \(error.cause)"))
        }
        guard base.origin.scheme == "https" || base.origin.isLoopback else { throw OAuthError(.insecureUrl) }
        self.text = text
    }

    /// Reads a URL that the metadata may have left out.
    ///
    /// - Throws: ``OAuthError/Kind/noEndpoint(name:)`` when it did, and what ``init(_:name:)`` throws.
    init(_ text: String?, name: String) throws(OAuthError) {
        guard let text else { throw OAuthError(.noEndpoint(name: name)) }
        try self.init(text, name: name)
    }

    /// The URL with these names and values behind its own (RFC 6749 §3.1).
    ///
    /// - Throws: ``OAuthError/Kind/invalidParameter(reason:)``.
    func url(adding query: HttpQuery) throws(OAuthError) -> URL {
        do {
            return try base.appending([], query: query)
        } catch {
            throw OAuthError(.invalidParameter(reason: error.cause))
        }
    }
}

extension InvalidRequest {
    /// The cause, without the sentence around it.
    fileprivate var cause: String {
        if case .baseUrl(let reason) = self { reason } else { description }
    }
}
