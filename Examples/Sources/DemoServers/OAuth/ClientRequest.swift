import Foundation

/// A form that a client posted, and that client.
struct ClientRequest: Sendable {
    let client: DemoClient
    let form: FormParameters
    /// When it came.
    let now: Duration

    /// Reads the form and authenticates the client (RFC 6749 §2.3).
    init(_ request: ApiRequest, clients: [String: DemoClient], at now: Duration) throws(OAuthFailure) {
        let form = FormParameters(String(decoding: request.body, as: UTF8.self)).withoutEmpty
        guard !form.hasRepeats else { throw OAuthFailure(.invalidRequest, "a parameter comes twice") }
        self.client = try Self.client(request, form: form, clients: clients)
        self.form = form
        self.now = now
    }

    private static func client(
        _ request: ApiRequest,
        form: FormParameters,
        clients: [String: DemoClient]
    ) throws(OAuthFailure) -> DemoClient {
        guard request.authorization == nil else {
            return try client(in: request.credentials(ofScheme: "basic"), form: form, clients: clients)
        }
        guard let id = form["client_id"] else {
            guard form["client_secret"] == nil else { throw OAuthFailure(.invalidRequest, "client_id is missing") }
            return .app
        }
        guard let client = clients[id], client.secret ?? "" == form["client_secret"] ?? "" else {
            throw OAuthFailure(.invalidClient, "unknown client, or wrong secret")
        }
        return client
    }

    /// RFC 6749 §2.3.1: id and secret are form-encoded before they are joined, so that either may hold a colon.
    private static func client(
        in basic: String?,
        form: FormParameters,
        clients: [String: DemoClient]
    ) throws(OAuthFailure) -> DemoClient {
        let refusal = OAuthFailure(.invalidClient, "unknown client, or wrong secret", usedAuthorization: true)
        guard let basic, let data = Data(base64Encoded: basic) else { throw refusal }
        let parts = String(decoding: data, as: UTF8.self)
            .split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            .map(FormParameters.decode)
        guard parts.count == 2 else { throw refusal }
        // RFC 6749 §2.3: not more than one method in a request.
        guard form["client_secret"] == nil, (form["client_id"] ?? parts[0]) == parts[0] else {
            throw OAuthFailure(.invalidRequest, "the client identifies itself in two ways")
        }
        guard let client = clients[parts[0]], client.secret ?? "" == parts[1] else { throw refusal }
        return client
    }

    /// Refuses a client that is not registered for a grant.
    func requireGrant(_ grant: DemoGrant) throws(OAuthFailure) {
        guard client.mayUse(grant) else {
            throw OAuthFailure(.unauthorizedClient, "the client is not registered for this grant")
        }
    }
}

extension ClientRequest: Redacted {}
