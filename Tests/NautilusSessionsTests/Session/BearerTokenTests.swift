import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

@Suite("A bearer token")
struct BearerTokenTests {
    /// A server whose tokens last for an hour, and a session that takes them from it.
    private struct World: SimulatedWorld {
        let clock: ManualClock
        let server: ScriptedTransport
        let session: Session<BearerToken>
        private let api: AnyHttpService<HttpError>

        init(_ simulation: Simulated) {
            clock = simulation.clock
            server = ScriptedTransport(clock: simulation.clock) { request, _ in
                let tokens = [nil, "Bearer b"]
                return .status(tokens.contains(request.header[.authorization]) ? 204 : 401)
            }
            let api = AnyHttpService(apiUrl: "api.test", transport: server, clock: clock)
            let rules = SessionRules.bearer(
                revoke: {
                    try await AnyRequest(.post, ["leave"], header: [.authorization: $0.authorization]).schedule(
                        with: api
                    )
                },
                refresh: { spent in
                    let body = HttpBody.json(["refresh_token": spent])
                    return try await AnyRequest(.post, ["renew"], body: body, as: BearerToken.self).schedule(with: api)
                }
            )
            session = Session(key: CredentialKey(issuer: "api.test"), rules: rules, store: MemoryStore(), clock: clock)
            self.api = api
        }

        func signIn(_ reply: String) async throws {
            server.on(.post, "/login", .reply(text: reply))
            try await session.signIn(AnyRequest(.post, ["login"], as: BearerToken.self).schedule(with: api))
        }

        /// Makes a call, and returns what it was sent with.
        func call() async throws -> String? {
            try await AnyRequest(.get, ["notes"]).schedule(
                with: api.with { $0.retrierFactory = session.retrierFactory }
            )
            return server.attempts(at: .get, "/notes").last?.header[.authorization]
        }

        var spent: [String] {
            server.attempts(at: .post, "/renew").map { String(decoding: $0.body ?? Data(), as: UTF8.self) }
        }
    }

    @Test("a bearer token that expired long ago is refreshed before it is sent, also one from a store")
    func expiredLongAgo() async throws {
        let token = BearerToken(accessToken: "old", refreshToken: "r", expires: .distantPast)
        let stored = try JSONDecoder().decode(BearerToken.self, from: JSONEncoder().encode(token))
        #expect(stored == token)
        #expect(BearerToken(accessToken: "b", expires: Date(timeIntervalSince1970: 1e12)).expires == nil)
        try await World.run { world in
            world.server.on(.post, "/renew", .reply(text: #"{"access_token": "b"}"#))
            try await world.session.signIn(token)
            #expect(try await world.call() == "Bearer b")
            #expect(world.server.count(of: .get, "/notes") == 1)
        }
    }

    @Test("a bearer token is read under the names that servers use, and made from others with its lifetime")
    func names() async throws {
        try await World.run { world in
            try await world.signIn(#"{"token": "b", "refreshToken": "r", "expiresIn": 60}"#)
            let made = BearerToken(accessToken: "b", refreshToken: "r", expiresIn: .seconds(60))
            #expect(world.session.current?.credential == made)
            #expect(BearerToken(accessToken: "b", refreshToken: nil, expiresIn: nil).expires == nil)
        }
    }

    @Test(
        "a bearer token is the same when it comes back from a store, whatever its server says of its end",
        arguments: [
            "1900000000", "1900000000000", "1900000000123.5", "\"1900000000000\"", "1e300", "-1", "0", "NaN",
        ]
    )
    func storedEnd(end: String) throws {
        let reply = Data(#"{"access_token": "b", "expires_at": \#(end == "NaN" ? "\"NaN\"" : end)}"#.utf8)
        let token = try JSONDecoder().decode(BearerToken.self, from: reply)
        #expect(try JSONDecoder().decode(BearerToken.self, from: JSONEncoder().encode(token)) == token)
        if end.contains("19000") { #expect(token.expires == Date(timeIntervalSince1970: 1_900_000_000)) }
    }

    @Test(
        "the time until a date is bounded",
        arguments: [
            (1e300, 3_155_760_000), (-1e300, -3_155_760_000), (.infinity, 3_155_760_000), (.nan, 0),
        ] as [(Double, Int64)]
    )
    func until(date: Double, seconds: Int64) {
        #expect(Duration.until(Date(timeIntervalSince1970: date)) == .seconds(seconds))
    }

    @Test("a bearer token is refreshed when its lifetime is over, by the latest refresh token")
    func refresh() async throws {
        try await World.run { world in
            try await world.signIn(#"{"access_token": "b", "refresh_token": "r1", "expires_in": 3600}"#)
            world.server.on(
                .post,
                "/renew",
                .reply(text: #"{"access_token": "b", "expires_in": "3600"}"#),
                .reply(text: #"{"accessToken": "b", "refreshToken": "r2", "expiresIn": 3600}"#),
                .reply(text: #"{"access_token": "b", "refresh_token": ""}"#)
            )
            #expect(try await world.call() == "Bearer b")
            #expect(world.spent.isEmpty)
            for _ in 1...3 {
                try await world.sleep(.seconds(3600))
                #expect(try await world.call() == "Bearer b")
            }
            // The first answer had none of its own, and the last no expiry.
            #expect(world.spent == ["r1", "r1", "r2"].map { #"{"refresh_token":"\#($0)"}"# })
            try await world.sleep(.seconds(36_000))
            #expect(try await world.call() == "Bearer b")
            #expect(world.spent.count == 3)
        }
    }

    @Test("a bearer token without a refresh token serves until the server rejects it, which ends the session")
    func noRefreshToken() async throws {
        try await World.run { world in
            try await world.signIn(#"{"access_token": "b", "expires_in": 3600}"#)
            try await world.sleep(.seconds(7200))
            #expect(try await world.call() == "Bearer b")
            world.server.on(.get, "/notes", .status(401))
            let error = await #expect(throws: HttpError.self) { _ = try await world.call() }
            #expect(error?.requiresSignIn == true)
            #expect(!world.session.isSignedIn)
            #expect(world.spent.isEmpty)
        }
    }

    @Test("a bearer token is forgotten by the server when its user signs out")
    func revocation() async throws {
        try await World.run { world in
            try await world.signIn(#"{"access_token": "b"}"#)
            world.server.on(.post, "/leave", .status(204))
            try await world.session.signOut()
            #expect(world.server.attempts(at: .post, "/leave").map(\.header[.authorization]) == ["Bearer b"])
        }
    }

    @Test(
        "a bearer token is read from servers' answers, and an expiry that makes no sense is none",
        arguments: [
            (#""expires_at": 1900000000"#, 1_900_000_000), (#""expires_at": "2030-03-17T17:46:40Z""#, 1_900_000_000),
            (#""expires_at": "1900000000""#, 1_900_000_000), (#""expires_at": -1"#, nil), (#""expires_at": 1e99"#, nil),
            (#""expires_at": "soon""#, nil), (#""expires_in": 0"#, nil), (#""expires_in": "never""#, nil),
            (#""expires_in": null"#, nil), (#""expires_in": [3600]"#, nil),
        ] as [(String, Double?)]
    )
    func expiry(field: String, seconds: Double?) throws {
        for coders in [JsonCoders(dates: .iso8601), JsonCoders(dates: .iso8601, keys: .snakeCase)] {
            let text = #"{"token_type": "bearer", "access_token": "a", "refresh_token": "r", \#(field)}"#
            let token = try coders.decoder().decode(BearerToken.self, from: Data(text.utf8))
            let expires = seconds.map { Date(timeIntervalSince1970: $0) }
            #expect(token == BearerToken(accessToken: "a", refreshToken: "r", expires: expires))
        }
    }

    @Test("an expiry in any number of seconds comes back from a store as it was", arguments: [1, 3600.9, 1e300])
    func stored(lifetime: Double) throws {
        let text = #"{"access_token": "a", "refresh_token": "r", "expires_in": \#(lifetime)}"#
        let token = try JSONDecoder().decode(BearerToken.self, from: Data(text.utf8))
        #expect(token.expires != nil)
        for coders in [JsonCoders.standard, JsonCoders(dates: .iso8601, keys: .snakeCase)] {
            let stored = try coders.encoder().encode(token)
            #expect(try coders.decoder().decode(BearerToken.self, from: stored) == token)
        }
    }

    @Test(
        "an answer without a token that a header takes is refused, and not quoted",
        arguments: ["", "\\n", "ü", "a\\u0000"]
    )
    func unusable(token: String) {
        let text = #"{"access_token": "secret\#(token)"}"#.replacing("secret\"", with: "\"")
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(BearerToken.self, from: Data(text.utf8))
        }
        #expect(!"\(String(describing: error))".contains("secret"))
    }

    @Test("a bearer token is never printed")
    func redaction() {
        let token = BearerToken(accessToken: "secret", refreshToken: "secret", expires: Date(timeIntervalSince1970: 0))
        var dumped = ""
        dump(token, to: &dumped)
        for text in ["\(token)", String(reflecting: token), dumped] { #expect(!text.contains("secret")) }
        #expect("\(token)".hasPrefix("BearerToken(with refresh token, expires 1970-01-01"))
    }
}
