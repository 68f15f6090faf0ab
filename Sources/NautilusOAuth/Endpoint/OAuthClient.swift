import Foundation
import Nautilus

/// The client as it is registered with the authorization server (RFC 6749 §2).
///
/// ```swift
/// let app = OAuthClient(id: "notes-ios")
/// let server = OAuthClient(id: "notes-server", authentication: .basic(secret: secret))
/// ```
public struct OAuthClient: Hashable, Sendable {
    /// How the client proves who it is (RFC 6749 §2.3.1).
    public enum Authentication: Hashable, Sendable {
        /// No proof: a public client, like every app on a user's device, which cannot keep a secret. Its `client_id`
        /// goes into the form.
        case none
        /// By `Authorization: Basic`, which every server with client secrets has to support.
        case basic(secret: String)
        /// By `client_secret` in the form, for servers that accept nothing else.
        case post(secret: String)
    }

    /// The `client_id`.
    public let id: String
    /// How the client proves who it is.
    public let authentication: Authentication
    /// More parameters of every token request.
    let parameters: [TokenForm.Field]

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - id: The `client_id`.
    ///   - authentication: How the client proves who it is. Default: not at all, since a secret shipped with an app is
    ///     not a secret (RFC 8252 §8.5).
    ///   - parameters: More parameters of every token and device authorization request, such as `audience`, or
    ///     `resource` once or several times (RFC 8707). A request's own parameter of the same name replaces them. One
    ///     that the library sets, such as `grant_type`, fails each request with
    ///     ``OAuthError/Kind/invalidParameter(reason:)``. Default: none, which every server accepts.
    public init(id: String, authentication: Authentication = .none, parameters: HttpQuery = [:]) {
        self.id = id
        self.authentication = authentication
        self.parameters = TokenForm.fields(of: parameters)
    }

    /// The value of `Authorization`; nil when the form identifies the client.
    var authorization: String? {
        guard case .basic(let secret) = authentication else { return nil }
        // Form-encoded before they are joined (§2.3.1), so that a colon in the id is not taken for the separator.
        let pair = "\(id.percentEncoded):\(secret.percentEncoded)"
        return "Basic " + Data(pair.utf8).base64EncodedString()
    }

    /// The fields of the form that identify the client.
    var fields: [TokenForm.Field] {
        switch authentication {
        case .none: [.init("client_id", id)]
        case .basic: []
        case .post(let secret): [.init("client_id", id), .init("client_secret", secret)]
        }
    }
}

extension OAuthClient: Redacted {
    /// Id and kind of authentication; never the secret.
    public var description: String { "OAuthClient(\(id), \(authentication))" }
}

extension OAuthClient.Authentication: Redacted {
    /// The kind; never the secret.
    public var description: String {
        switch self {
        case .none: "public"
        case .basic: "basic"
        case .post: "post"
        }
    }
}
