import Foundation

/// A request as the routes see it: no socket, no framework.
package struct ApiRequest: Sendable {
    package var method: String
    package var path: String
    package var query: FormParameters
    /// The whole `Authorization` field; nil when there is none.
    package var authorization: String?
    package var idempotencyKey: String?
    /// The client, by which requests are limited: the field `X-Client`; empty when there is none.
    package var client: String
    package var body: Data

    package init(
        method: String,
        path: String,
        query: FormParameters = FormParameters(),
        authorization: String? = nil,
        idempotencyKey: String? = nil,
        client: String = "",
        body: Data = Data()
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.authorization = authorization
        self.idempotencyKey = idempotencyKey
        self.client = client
        self.body = body
    }

    /// The token of `Authorization: Bearer …`; nil when there is none.
    var bearer: String? { credentials(ofScheme: "bearer") }

    /// The text that follows the scheme in `Authorization`; nil when there is none, or it is of another scheme.
    func credentials(ofScheme scheme: String) -> String? {
        let words = authorization?.split(separator: " ", maxSplits: 1) ?? []
        guard words.count == 2, words[0].lowercased() == scheme else { return nil }
        return String(words[1])
    }
}

extension ApiRequest: Redacted {
    /// No query and no body: codes and tokens travel in both.
    package var description: String { "\(method) \(path)" }
}
