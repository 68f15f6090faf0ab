import Foundation
import Nautilus
import NautilusStreams
import NautilusTesting
import TestSupport
import Testing

@Suite("Redirects")
struct RedirectTests {
    static let secrets: HttpHeader = [
        "Authorization": "Bearer secret", "Cookie": "session=secret", "X-Api-Key": "secret", "Accept": "text/plain",
    ]

    /// The outcome of a request that is redirected once, and what was sent.
    static func redirected(
        _ status: Int,
        to location: String,
        _ request: Ping = Ping(header: secrets)
    ) async throws -> (Outcome, ScriptedTransport) {
        let transport = ScriptedTransport(
            .status(status, header: ["Location": location]),
            .reply(text: "there")
        )
        return (try await outcome(of: request, retrier: .never, transport), transport)
    }

    @Test(
        "B17: a redirect to another host, port or scheme takes no credential and no cookie along",
        arguments: ["https://other.example.com/", "https://api.example.com:8443/", "//evil.example.com/things"]
    )
    func crossOrigin(_ location: String) async throws {
        let (outcome, transport) = try await Self.redirected(302, to: location)
        #expect(outcome.response?.body == "there")
        let header = transport.attempts[1].header
        #expect(header.fields.map(\.name) == ["Accept"])
    }

    @Test(
        "a redirect of an authorized request to another origin is not followed when the user has signed out meanwhile"
    )
    func signedOut() async throws {
        try await simulate { simulation in
            let coordinator = RefreshCoordinator(credential: Token(number: 1), clock: simulation.clock) { $0 }
            let transport = ScriptedTransport(clock: simulation.clock) { _, _ in
                coordinator.signOut()
                return .status(307, header: ["Location": "https://other.example.com/"])
            }
            let service = AnyHttpService<HttpError>(
                apiUrl: "api.example.com",
                retrierFactory: AuthorizationRetrier.factory(coordinator),
                transport: transport,
                clock: simulation.clock
            )
            let error = await Ping.get.result(with: service).error
            #expect(error?.requiresSignIn == true)
            #expect(transport.count == 1)
        }
    }

    @Test(
        "B17: a redirect to the same origin takes everything along",
        arguments: ["/elsewhere", "elsewhere", "https://api.example.com/x", "https://API.example.com:443/x", "?page=2"]
    )
    func sameOrigin(_ location: String) async throws {
        let (outcome, transport) = try await Self.redirected(302, to: location)
        #expect(outcome.response?.body == "there")
        #expect(transport.attempts[1].header == Self.secrets)
        #expect(outcome.attempts == 1)
    }

    /// What goes along to another origin, of whichever method.
    private static let carried: HttpHeader = [
        "Accept": "text/plain", "Accept-Charset": "utf-8", "Accept-Datetime": "Thu, 31 May 2007 20:35:00 GMT",
        "Accept-Encoding": "gzip", "Accept-Language": "de", "Cache-Control": "no-store", "Content-Digest": "d",
        "Content-Disposition": "inline", "Content-Encoding": "identity", "Content-Language": "de",
        "Content-Location": "/a", "Content-Range": "bytes */9", "Content-Type": "text/plain", "If-Range": "\"v1\"",
        "Last-Event-ID": "7", "Range": "bytes=5-", "traceparent": "00-1-2-01", "tracestate": "a=b",
        "User-Agent": "app/1",
    ]

    /// What goes along only with a request that may change something: without it, it would change another thing, or
    /// the same twice.
    private static let conditions: HttpHeader = [
        "Idempotency-Key": "k1", "If-Match": "\"v1\"", "If-Modified-Since": "Thu, 31 May 2007 20:35:00 GMT",
        "If-None-Match": "*", "If-Unmodified-Since": "Thu, 31 May 2007 20:35:00 GMT",
    ]

    /// What stays behind.
    private static let own: HttpHeader = [
        "Accept-Sign": "s", "Accept-Token": "t", "Authorization": "Bearer s", "baggage": "user=anna",
        "Content-Account": "a",
        "Content-Sign": "s", "Cookie": "c", "DPoP": "d", "Forwarded": "for=a", "If": "(<urn:lock:secret>)",
        "Last-Event-ID-Sign": "s", "Origin": "https://api.example.com", "Prefer": "return=minimal",
        "Proxy-Authorization": "s", "Referer": "https://api.example.com/?token=s",
        "Sec-WebSocket-Protocol": "bearer.secret", "Signature": "s", "X-Account-Sid": "a", "X-Client-Cert": "c",
        "X-Forwarded-For": "a", "X-Sign": "s",
    ]

    @Test(
        "a redirect to another origin takes only fields of HTTP itself and of tracing along",
        arguments: [.get, .head, .put, .post, .delete] as [HttpMethod]
    )
    func fieldsAcrossOrigins(method: HttpMethod) async throws {
        let transport = ScriptedTransport(
            .status(307, header: ["Location": "https://cdn.example.com/file"]),
            .reply(text: "there")
        )
        let header = Self.carried.merging(Self.conditions).merging(Self.own)
        _ = try await outcome(of: Ping(method: method, header: header), transport)
        let isSafe = [.get, .head].contains(method)
        let expected = isSafe ? Self.carried : Self.carried.merging(Self.conditions)
        let names = transport.attempts[1].header.fields.map(\.name.rawValue).sorted()
        #expect(names == expected.fields.map(\.name.rawValue).sorted())
    }

    @Test("a POST that has become a GET on its way elsewhere has none of its conditions")
    func conditionsOfPost() async throws {
        let transport = ScriptedTransport(
            .status(303, header: ["Location": "https://cdn.example.com/file"]),
            .reply(text: "there")
        )
        let header = Self.conditions.merging(["Accept": "text/plain"])
        _ = try await outcome(of: Ping(method: .post, header: header), transport)
        #expect(transport.attempts[1].header.fields.map(\.name) == ["Accept"])
    }

    @Test("a download that is resumed behind a redirect asks the other origin for the rest, and for nothing else")
    func resumedElsewhere() async throws {
        let folder = try TemporaryFolder()
        let target = folder.url.appendingPathComponent("file")
        let script = ScriptedTransport { request, _ in
            guard request.url.host == "cdn.example.com" else {
                return .status(302, header: ["Location": "https://cdn.example.com/file"])
            }
            guard request.header["Range"] == "bytes=3-", request.header["If-Range"] == "\"1\"" else {
                let lost = TransportError.failed(.networkConnectionLost, delivery: .maybeExecuted, reason: "lost")
                return .chunks(header: ["ETag": "\"1\"", "Content-Length": "6"], [Data("abc".utf8)], endingWith: lost)
            }
            return .reply(
                status: 206,
                header: ["ETag": "\"1\"", "Content-Range": "bytes 3-5/6"],
                text: "def"
            )
        }
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            header: ["Authorization": "Bearer secret"],
            retrierFactory: BackoffRetrier.factory(.atOnce),
            transport: script
        )
        try await Ping.get.download(to: target, with: service)
        #expect(try String(contentsOf: target, encoding: .utf8) == "abcdef")
        let elsewhere = script.attempts.filter { $0.request.url.host == "cdn.example.com" }
        #expect(elsewhere.map { $0.header[.authorization] } == [nil, nil])
    }

    @Test("a secret that was left behind stays behind on the way back")
    func thereAndBack() async throws {
        let transport = ScriptedTransport(
            .status(302, header: ["Location": "https://other.example.com/"]),
            .status(302, header: ["Location": "https://api.example.com/back"]),
            .reply(text: "home")
        )
        let outcome = try await outcome(of: Ping(header: Self.secrets), transport)
        #expect(outcome.response?.body == "home")
        #expect(transport.attempts[2].header[.authorization] == nil)
    }

    @Test(
        "only within its origin a redirected request still counts as one of the user's, and its failure does",
        arguments: [
            ("/elsewhere", true), ("https://other.example.com/", false),
        ]
    )
    func tags(location: String, isUsers: Bool) async throws {
        try await simulate { simulation in
            let coordinator = RefreshCoordinator(credential: Token(number: 1), clock: simulation.clock) { $0 }
            let credential = try await coordinator.credential()
            let transport = ScriptedTransport(
                .status(307, header: [.location: .init(location)]),
                .status(403),
                clock: simulation.clock
            )
            let service = AnyHttpService<HttpError>(
                apiUrl: "api.example.com",
                retrierFactory: AuthorizationRetrier.factory(coordinator),
                transport: transport,
                clock: simulation.clock
            )
            let error = await Ping.get.result(with: service).error
            #expect(error?.kind == .status(403))
            #expect(transport.attempts.map(\.request.isAuthorized) == [true, isUsers])
            #expect((error?.credentialTag(of: credential.session) != nil) == isUsers)
        }
    }

    @Test("B18: 307 and 308 send method and body again", arguments: [307, 308])
    func keepsBody(_ status: Int) async throws {
        let (_, transport) = try await Self.redirected(status, to: "/elsewhere", .post)
        #expect(transport.attempts[1].request.method == .post)
        #expect(transport.attempts[1].body == Data("payload".utf8))
        #expect(transport.attempts[1].header[.contentType] == "application/octet-stream")
    }

    @Test("B18: 303 makes a GET of a POST, and so do 301 and 302", arguments: [301, 302, 303])
    func becomesGet(_ status: Int) async throws {
        let (_, transport) = try await Self.redirected(status, to: "/elsewhere", .post)
        #expect(transport.attempts[1].request.method == .get)
        #expect(transport.attempts[1].body == nil)
        #expect(transport.attempts[1].header[.contentType] == nil)
    }

    @Test("301 and 302 leave a PUT a PUT; 303 makes it a GET, and leaves HEAD alone")
    func otherMethods() async throws {
        for (status, method, expected) in [(302, "PUT", "PUT"), (303, "PUT", "GET"), (303, "HEAD", "HEAD")]
            as [(Int, HttpMethod, HttpMethod)]
        {
            let (_, transport) = try await Self.redirected(status, to: "/elsewhere", Ping(method: method))
            #expect(transport.attempts[1].request.method == expected)
        }
    }

    @Test("a redirect from https to http is not followed")
    func downgrade() async throws {
        let (outcome, transport) = try await Self.redirected(302, to: "http://api.example.com/things")
        #expect(outcome.error?.kind == .redirect(.downgrade))
        #expect(outcome.error?.status == 302)
        #expect(transport.count == 1)
    }

    @Test("a circle is refused when it closes")
    func loop() async throws {
        let transport = ScriptedTransport(
            .status(302, header: ["Location": "/b"]),
            .status(302, header: ["Location": "/things"]),
            afterLast: .repeat
        )
        let outcome = try await outcome(of: Ping.get, transport)
        #expect(outcome.error?.kind == .redirect(.loop))
        #expect(transport.count == 2)
    }

    @Test("a circle is one although its fragments differ")
    func loopOfFragments() async throws {
        let (outcome, transport) = try await Self.redirected(302, to: "/things#here")
        #expect(outcome.error?.kind == .redirect(.loop))
        #expect(transport.count == 1)
    }

    @Test("20 redirects are followed, the 21st is not", arguments: [20, 21])
    func limit(_ count: Int) async throws {
        let served = Counter()
        let transport = ScriptedTransport { _, _ in
            let number = served.increment()
            return number > count ? .reply(text: "there") : .status(302, header: ["Location": "/\(number)"])
        }
        let outcome = try await outcome(of: Ping.get, transport)
        #expect((outcome.response?.body == "there") == (count == 20))
        #expect(outcome.error?.kind == (count == 20 ? nil : .redirect(.tooMany(limit: 20))))
        #expect(transport.count == 21)
    }

    @Test("a Location is followed after no other status", arguments: [300, 304, 305, 404])
    func otherStatuses(status: Int) async throws {
        let (outcome, transport) = try await Self.redirected(status, to: "/there")
        #expect(outcome.error?.kind == .status(status))
        #expect(transport.count == 1)
    }

    @Test(
        "a Location that leads nowhere is refused",
        arguments: [
            "ftp://x.example.com/", "https://", "https://me:secret@api.example.com/", "mailto:a@b.c",
            "https://me@api.example.com/", "https://:secret@api.example.com/",
        ]
    )
    func invalidLocation(_ location: String) async throws {
        let (outcome, _) = try await Self.redirected(302, to: location)
        #expect(outcome.error?.kind == .redirect(.invalidLocation))
    }

    @Test("a 3xx without Location, 304, and a redirect that the request accepts are answers")
    func answers() async throws {
        let transport = ScriptedTransport(.status(302), .status(304), .status(302, header: ["Location": "/x"]))
        #expect(try await outcome(of: Ping.get, retrier: .never, transport).error?.kind == .status(302))
        #expect(try await outcome(of: Ping.get, retrier: .never, transport).error?.kind == .status(304))
        let accepting = try await outcome(of: Ping(acceptedStatusCodes: [.success, 302]), transport)
        #expect(accepting.response?.status == 302)
    }

    @Test("a retry after a redirect begins at the request's own URL, credentials and all")
    func retryStartsOver() async throws {
        let transport = ScriptedTransport(
            .status(302, header: ["Location": "https://other.example.com/"]),
            .status(503),
            .reply(text: "ok")
        )
        let outcome = try await outcome(of: Ping(header: Self.secrets), transport)
        #expect(outcome.response?.body == "ok")
        #expect(transport.attempts[2].request.url.host == "api.example.com")
        #expect(transport.attempts[2].header == Self.secrets)
    }
}
