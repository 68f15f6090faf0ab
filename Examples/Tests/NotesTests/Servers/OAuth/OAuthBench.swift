import DemoServers
import Foundation

/// An authorization server without sockets, on a time that stands still until a test moves it.
final class OAuthBench {
    /// An endpoint's answer; fields that the answer does not have are nil.
    struct Reply: Decodable {
        var error: String?
        var accessToken: String?
        var refreshToken: String?
        var tokenType: String?
        var expiresIn: Int?
        var scope: String?
        var deviceCode: String?
        var userCode: String?
        var verificationUri: String?
        var verificationUriComplete: String?
        var interval: Int?
    }

    static let redirectUri = "http://127.0.0.1:4711/back"
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let device = "urn:ietf:params:oauth:grant-type:device_code"
    /// Public, and registered for nothing.
    static let stranger = DemoClient(id: "stranger", grants: [])
    /// Public, and wrongly registered for client credentials.
    static let pretender = DemoClient(id: "pretender", grants: Set(DemoGrant.allCases))

    var server = AuthorizationServer(
        tokens: TokenAuthority(environment: "staging", lifetime: .seconds(100)),
        codes: CodeAuthority(environment: "staging"),
        devices: DeviceAuthority(environment: "staging"),
        clients: [OAuthBench.stranger, OAuthBench.pretender]
    )
    var counters = ServerCounters()
    var now = Duration.zero

    init() {
        server.origin = "http://127.0.0.1:8080"
    }

    /// Nil when the connection closes without an answer.
    func send(_ request: ApiRequest) -> ApiAnswer? {
        guard let endpoint = OAuthEndpoint(rawValue: request.path) else { return nil }
        return server.answer(request, at: endpoint, now: now, counters: &counters)
    }

    func get(_ endpoint: OAuthEndpoint, _ query: KeyValuePairs<String, String> = [:]) -> ApiAnswer? {
        send(ApiRequest(method: "GET", path: endpoint.rawValue, query: .init(FormParameters.encode(query))))
    }

    /// Posts to the token endpoint.
    func post(_ form: KeyValuePairs<String, String>, authorization: String? = nil) -> ApiAnswer? {
        post(.token, form, authorization: authorization)
    }

    func post(
        _ endpoint: OAuthEndpoint,
        _ form: KeyValuePairs<String, String>,
        authorization: String? = nil
    ) -> ApiAnswer? {
        let body = Data(FormParameters.encode(form).utf8)
        return send(ApiRequest(method: "POST", path: endpoint.rawValue, authorization: authorization, body: body))
    }

    /// Authorizes, and returns the code; empty when there is none.
    func code(client: String = "notes-app", scope: String = "") -> String {
        let answer = get(
            .authorize,
            [
                "response_type": "code", "client_id": client, "redirect_uri": Self.redirectUri, "scope": scope,
                "code_challenge": PkceChallenge(verifier: Self.verifier).digest, "code_challenge_method": "S256",
            ]
        )
        return answer?.redirect["code"] ?? ""
    }

    func exchange(
        _ code: String,
        redirectUri: String = OAuthBench.redirectUri,
        verifier: String = OAuthBench.verifier,
        client: String = "notes-app"
    ) -> ApiAnswer? {
        post([
            "grant_type": "authorization_code", "code": code, "redirect_uri": redirectUri, "code_verifier": verifier,
            "client_id": client,
        ])
    }

    func refresh(_ refreshToken: String, scope: String = "", client: String = "notes-app") -> ApiAnswer? {
        post([
            "grant_type": "refresh_token", "refresh_token": refreshToken, "scope": scope, "client_id": client,
        ])
    }

    func poll(_ deviceCode: String, client: String = "notes-app") -> ApiAnswer? {
        post(["grant_type": Self.device, "device_code": deviceCode, "client_id": client])
    }
}

extension ApiAnswer {
    var reply: OAuthBench.Reply {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return (try? decoder.decode(OAuthBench.Reply.self, from: body)) ?? OAuthBench.Reply()
    }

    /// The parameters that the browser takes along when it is redirected.
    var redirect: FormParameters {
        let parts = header["Location"]?.split(separator: "?", maxSplits: 1) ?? []
        return FormParameters(parts.count == 2 ? String(parts[1]) : "")
    }
}

extension ApiRequest {
    /// `Authorization: Basic` with id and secret as they stand.
    static func basic(_ id: String, _ secret: String) -> String {
        "Basic " + Data("\(id):\(secret)".utf8).base64EncodedString()
    }

    /// The same of a client, encoded first (RFC 6749 §2.3.1).
    static func basic(_ client: DemoClient) -> String {
        basic(FormParameters.encode(client.id), FormParameters.encode(client.secret ?? ""))
    }
}
