import Foundation
import Nautilus

/// The fields of a request to the authorization server, and which of them are secrets.
struct TokenForm: Sendable {
    /// One field, not yet encoded.
    struct Field: Hashable, Sendable {
        let name: String
        let value: String
        /// Whether the app has added the field.
        let isExtra: Bool

        init(_ name: String, _ value: String, isExtra: Bool = false) {
            self.name = name
            self.value = value
            self.isExtra = isExtra
        }
    }

    private(set) var fields: [Field]

    init(_ fields: Field...) {
        self.fields = fields
    }

    /// Adds a field; does nothing when the value is nil.
    mutating func add(_ name: String, _ value: String?) {
        if let value { fields.append(Field(name, value)) }
    }

    /// Adds the scope, if there is one to ask for.
    mutating func add(_ scope: OAuthScope?) {
        if let scope, !scope.isEmpty { add("scope", scope.description) }
    }

    /// Adds fields.
    mutating func add(_ fields: [Field]) {
        self.fields += fields
    }

    /// Adds what the app has added to every request of its client, and to this one, whose parameters replace those of
    /// the client that have the same name.
    ///
    /// - Throws: ``OAuthError/Kind/invalidParameter(reason:)`` for a parameter that the library sets. Some servers read
    ///   names in any case, so `Grant_Type` is refused as well.
    mutating func add(_ client: OAuthClient, _ parameters: [Field]) throws(OAuthError) {
        let names = Set(parameters.map(\.name))
        let extras = client.parameters.filter { !names.contains($0.name) } + parameters
        if extras.contains(where: \.name.isEmpty) {
            throw OAuthError(.unwritableParameters)
        }
        let taken = Self.ownNames.union(fields.map(\.name))
        if let field = extras.first(where: { taken.contains($0.name.lowercased()) }) {
            throw OAuthError(.invalidParameter(reason: "\(field.name) is set by the library"))
        }
        fields += extras
    }

    /// The parameters as fields that the app has added; one without a name for those that cannot be written, which
    /// ``add(_:_:)`` refuses.
    static func fields(of parameters: HttpQuery) -> [Field] {
        guard let encoded = try? parameters.checked() else { return [Field("", "", isExtra: true)] }
        return FormFields(encoded[...])?.fields.map { Field($0.name, $0.value, isExtra: true) } ?? []
    }

    /// The fields of the grants themselves and of the client's identification. A scope is refused only where the
    /// request has one already.
    private static let ownNames: Set<String> = [
        "client_id", "client_secret", "code", "code_verifier", "device_code", "grant_type", "redirect_uri",
        "refresh_token",
    ]

    /// The form as it is sent.
    var query: HttpQuery {
        fields.reduce(into: [:]) { query, field in query.add(field.value, to: field.name) }
    }

    /// Whether the form spends a refresh token.
    var isRefresh: Bool { fields.contains { $0.name == "grant_type" && $0.value == "refresh_token" } }

    /// The values that must not be printed if a server repeats them.
    var secrets: [String] {
        fields.filter { ($0.isExtra || Self.secretNames.contains($0.name)) && !$0.value.isEmpty }.map(\.value)
    }

    private static let secretNames: Set<String> = [
        "client_secret", "code", "code_verifier", "device_code", "refresh_token", "token",
    ]
}

extension TokenForm: Redacted {
    /// The names of the fields; never their values.
    var description: String { "TokenForm(\(fields.map(\.name).joined(separator: ", ")))" }
}

/// A form on its way to the authorization server.
///
/// It has no `Idempotency-Key`, and must not get one: it is a POST that is repeated only if it certainly did not run,
/// and a refresh token spent twice ends the session (RFC 9700 §4.14.2).
struct FormRequest: Request {
    typealias Result = Data

    let form: TokenForm
    let header: HttpHeader
    let timeout: Duration?
    let deadline: Duration?
    var route: HttpRoute { [] }

    var method: HttpMethod { .post }
    var body: HttpBody { .form(form.query) }

    /// Redirects count as answers, so that they are not followed: 307 and 308 would carry the form, with all its
    /// secrets, wherever they lead.
    var acceptedStatusCodes: HttpStatusCodes { [.success, HttpStatusCodes(300...399)] }
}

/// A URL that secrets may go to: `https`, or `http` to this machine (RFC 6749 §3.1 and §3.2, RFC 8252 §7.3).
struct EndpointUrl: Sendable {
    private let base: BaseUrl
    /// The URL as it was written.
    let text: String

    /// Reads a URL.
    ///
    /// - Parameter name: The URL's name in the metadata (RFC 8414 §2), for the error.
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

    /// Reads a URL that the metadata may lack.
    ///
    /// - Throws: ``OAuthError/Kind/noEndpoint(name:)`` when it lacks the URL, and what ``init(_:name:)`` throws.
    init(_ text: String?, name: String) throws(OAuthError) {
        guard let text else { throw OAuthError(.noEndpoint(name: name)) }
        try self.init(text, name: name)
    }

    /// The URL with these names and values added to its own query (RFC 6749 §3.1).
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

extension HttpRequest.Invalid {
    /// The cause, without the sentence around it.
    fileprivate var cause: String {
        if case .baseUrl(let reason) = self { reason } else { description }
    }
}

extension OAuthError.Kind {
    /// Parameters without a form, such as an object within an object.
    static let unwritableParameters = invalidParameter(
        reason: "the parameters cannot be written as names and values; they take texts, numbers, booleans and arrays"
    )
}
