import Nautilus

/// The fields of a request to the authorization server, and which of them are secrets.
struct TokenForm: Sendable {
    /// One field, not encoded.
    struct Field: Sendable {
        let name: String
        let value: String

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    private(set) var fields: [Field]

    init(_ fields: Field...) {
        self.fields = fields
    }

    /// Adds a field; a value of nil is left out.
    mutating func add(_ name: String, _ value: String?) {
        if let value { fields.append(Field(name, value)) }
    }

    /// Adds the scope, where there is one to ask for.
    mutating func add(_ scope: OAuthScope?) {
        if let scope, !scope.isEmpty { add("scope", scope.description) }
    }

    /// Adds fields.
    mutating func add(_ fields: [Field]) {
        self.fields += fields
    }

    /// The form as it is sent.
    var query: HttpQuery {
        fields.reduce(into: [:]) { query, field in query.add(field.value, to: field.name) }
    }

    /// Whether it spends a refresh token.
    var isRefresh: Bool { fields.contains { $0.name == "grant_type" && $0.value == "refresh_token" } }

    /// The values that a server might repeat, and that must not be printed then.
    var secrets: [String] {
        fields.filter { Self.secretNames.contains($0.name) && !$0.value.isEmpty }.map(\.value)
    }

    private static let secretNames: Set<String> = [
        "client_secret", "code", "code_verifier", "device_code", "refresh_token", "token",
    ]
}

extension TokenForm: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of the fields; never their values.
    var description: String { "TokenForm(\(fields.map(\.name).joined(separator: ", ")))" }
    /// The same as ``description``.
    var debugDescription: String { description }
    /// Shows what ``description`` shows.
    var customMirror: Mirror { Mirror(self, children: ["form": description]) }
}
