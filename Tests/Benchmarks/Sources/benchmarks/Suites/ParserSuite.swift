import Foundation
import Nautilus
import NautilusCaching
import NautilusOAuth
import NautilusPages
import NautilusStreams
import NautilusTraffic

/// Everything that reads what a server sends, by the doors that a response comes in through.
enum ParserSuite {
    static let all: [any Measurable] = fields + bodies + urls + oauth

    /// The parts of header fields, and the characters that break them.
    private static let fieldShapes: [Growth.Shape] =
        [
            "a", ",", ", ", ";", "=", "\"", "\\", " ", "\t", "<", "<>,", "<a>;", "/", "(", "a/", "a ", "a,", "a=", "a;",
            "a=\"", "\\\"", "a=b,", "a;b=c,", "a;b=c;", "a b, ", "1, ", "9", "</a>; rel=\"next\", ", "a=b; ",
            "W/\"a\", ",
            "\u{1F1E9}", "e\u{301}", "Sun, 06 Nov 1994 08:49:37 GMT, ",
        ].map { .init(piece: $0) } + [
            .init(piece: "a", start: "1, "), .init(piece: ", \"a\";b=1", start: "\"x\";r=1;t=1"),
            .init(piece: "a/", end: "\""), .init(piece: "a ", start: "\"", end: ","),
        ]

    private static let fields: [any Measurable] = [
        field("WWW-Authenticate") { $0.challenges.count },
        field("Link") { $0.link("next")?.utf8.count ?? $0.links.count },
        field("Retry-After") { $0.retryAfter().map { Int($0.components.seconds) } ?? 0 },
        Growth(
            name: "Retry-After in many fields, and no Date",
            shapes: [.init(piece: "Sun, 06 Nov 1994 08:49:37 GMT|")]
        ) {
            let values = $0.split(separator: "|")
            let header = HttpHeader(values.map { .init(name: .retryAfter, value: String($0)) })
            return { keep(header.retryAfter()) }
        },
        Growth(name: "media type", shapes: fieldShapes.flatMap { [$0, $0.behind("text/html; ")] }) { text in
            { keep(HttpMimeType(text).map { $0.description.utf8.count + ($0["charset"]?.utf8.count ?? 0) }) }
        },
        response("RateLimit", through: { [Pacing(clock: ContinuousClock())] }),
        response("RateLimit-Policy", with: ["RateLimit": "\"a\";r=9;t=1"], through: { [Pacing()] }),
        response("X-RateLimit-Reset", with: ["X-RateLimit-Remaining": "9"], through: { [Pacing()] }),
        response("X-RateLimit-Limit", with: ["X-RateLimit-Remaining": "9"], through: { [Pacing()] }),
        response("Cache-Control", through: { [HttpCache()] }),
        response("Vary", with: ["Cache-Control": "max-age=60"], through: { [HttpCache()] }),
        response("ETag", with: ["Cache-Control": "max-age=0"], through: { [HttpCache()] }),
        response("Expires", with: ["Last-Modified": "x"], through: { [HttpCache()] }),
        response("Age", with: ["Cache-Control": "max-age=60"], through: { [HttpCache()] }),
        response("Connection", with: ["Cache-Control": "max-age=60"], through: { [HttpCache()] }),
        response("Date", with: ["Cache-Control": "max-age=60"], through: { [HttpCache()] }),
        response("Content-Location", method: .post, through: { [HttpCache()] }),
        response("Content-Type", through: { [] }),
        response(
            "Set-Cookie",
            with: ["Cache-Control": "max-age=60"],
            through: { [HttpCache(), Pacing(), RequestCoalescing()] }
        ),
        response("X", status: 503, through: { [CircuitBreaker()] }),
        manyFields,
        Growth(name: "a header's description", shapes: fieldShapes) { text in
            let header: HttpHeader = ["X": text]
            return { keep(header.description.utf8.count) }
        },
    ]

    /// A header of as many fields as there is room for, stored and renewed.
    private static let manyFields = Growth(
        name: "many fields",
        shapes: ["X-%: b|", "RateLimit: \"a\";r=9|", "X-RateLimit-Remaining: 9|", "Set-Cookie: a=b|", "Vary: X-%|"].map
        { .init(piece: $0) }
    ) { text in
        var header: HttpHeader = [:]
        let fields = text.split(separator: "|").enumerated().map { index, line -> HttpHeader.Field in
            let parts = line.split(separator: ":", maxSplits: 1).map {
                $0.replacingOccurrences(of: "%", with: "\(index)")
            }
            return .init(name: .init(parts[0]), value: parts.count > 1 ? parts[1] : "")
        }
        header = HttpHeader(
            fields + [.init(name: "Cache-Control", value: "max-age=0"), .init(name: "ETag", value: "\"a\"")]
        )
        let reply = header
        return {
            let interceptors: [any HttpInterceptor] = [HttpCache(), Pacing()]
            let service = ReplyService(interceptors: interceptors) { request in
                HttpResponse(status: request.header["If-None-Match"] == nil ? 200 : 304, header: reply, body: Data())
            }
            for _ in 0..<2 { try await service.ask() }
        }
    }

    private static let bodies: [any Measurable] = [
        body("event stream", eventShapes) { stream in
            for try await event in stream.events() { keep(event) }
        },
        body("event stream, byte by byte", eventShapes, chunk: 1) { stream in
            for try await event in stream.events() { keep(event) }
        },
        body("event stream, event of many lines", [.init(piece: "data: a\n"), .init(piece: "data\n")]) { stream in
            for try await event in stream.events(limit: 1 << 22) { keep(event) }
        },
        body("lines", lineShapes) { stream in
            for try await line in stream.lines() { keep(line) }
        },
        body("lines, byte by byte", lineShapes, chunk: 1) { stream in
            for try await line in stream.lines() { keep(line) }
        },
        body("JSON lines", lineShapes + jsonShapes) { stream in
            for try await value in stream.values(of: [String: [Int]].self) { keep(value) }
        },
    ]

    private static let lineShapes: [Growth.Shape] = ["\n", "\r\n", "\r", "a\n", "a", "{}\n", " ", "\r\r\n"].map {
        .init(piece: $0)
    }
    private static let eventShapes: [Growth.Shape] =
        lineShapes
        + [
            "data\n", "data:\n\n", "data: a\n\n", "id: a\n", "id\n\n", "event: a\n", "retry: 9\n", ":", ":\n",
            "\u{FEFF}", "id: a\0\n",
        ]
        .map { .init(piece: $0) } + [
            .init(piece: "9", start: "retry: ", end: "\n"),
            .init(piece: "data: a\n\n", start: "id: \(String(repeating: "i", count: 9_999))\n"),
        ]

    private static let jsonShapes: [Growth.Shape] = [
        .init(piece: "["), .init(piece: "{\"a\":"), .init(piece: "[", start: "{\"a\":"),
        .init(piece: "\"a\":[1],", start: "{"),
        .init(piece: "9", start: "{\"a\":[", end: "]}"), .init(piece: "9,", start: "{\"a\":[", end: "9]}"),
        .init(piece: "\\u0000", start: "\""), .init(piece: "\\", start: "{\""),
        .init(piece: "0", start: "{\"a\":[1e", end: "]}"),
        .init(piece: "\"a\",", start: "{\"scope\":[", end: "\"a\"]}"),
        .init(piece: "a ", start: "{\"scope\":\"", end: "\"}"),
    ]

    private static let urlShapes: [Growth.Shape] =
        [
            "a", "/", "../", "./", "/../", "?", "#", "%", "%2F", "%%", "@", ":", "[", "]", "a:", "a.", "//", "?a=b&",
            "&", "+", " ", "ü", "\\",
        ].flatMap {
            [
                .init(piece: $0), .init(piece: $0, start: "https://api.example.com/"), .init(piece: $0, start: "//"),
                .init(piece: $0, start: "https://"),
            ]
        }

    private static let urls: [any Measurable] = [
        Growth(name: "Location", shapes: urlShapes) { text in
            let service = ReplyService(interceptors: []) { request in
                request.url.path == "/first"
                    ? HttpResponse(status: 302, header: [.location: text], body: Data()) : HttpResponse(body: Data())
            }
            return { try? await service.ask() }
        },
        Growth(name: "base URL", shapes: urlShapes) { text in
            { try? await ReplyService(apiUrl: text, interceptors: []) { _ in HttpResponse(body: Data()) }.ask() }
        },
        Growth(name: "link to the next page", shapes: urlShapes) { text in
            let service = ReplyService(interceptors: []) { _ in
                HttpResponse(header: ["Link": "<\(text)>; rel=next"], body: Data())
            }
            return {
                var pages = GetPages().pages(with: service, pageLimit: 2).makeAsyncIterator()
                while let page = try? await pages.next() { keep(page.status) }
            }
        },
    ]

    private static let server = AuthorizationServer(
        issuer: "https://id.example.com",
        tokenEndpoint: "https://id.example.com/token",
        authorizationEndpoint: "https://id.example.com/authorize",
        deviceAuthorizationEndpoint: "https://id.example.com/device"
    )

    private static let oauth: [any Measurable] = [
        reply("OAuth token reply") { endpoint in _ = try await endpoint.clientCredentials() },
        reply("OAuth token refusal", status: 400) { endpoint in _ = try await endpoint.clientCredentials() },
        reply("OAuth device reply") { endpoint in _ = try await endpoint.authorizeDevice() },
        Growth(name: "OAuth metadata", shapes: jsonShapes) { text in
            let transport = ReplyTransport { _ in HttpResponse(body: Data(text.utf8)) }
            return {
                _ = try? await AuthorizationServer.discover(issuer: "https://id.example.com", transport: transport)
            }
        },
        Growth(
            name: "OAuth redirect",
            shapes: ["a", "&", "=", "a=b&", "%", "%41", "+", "state=a&", "#", "?"].map {
                .init(piece: $0, start: "app://x/?")
            }
        ) { text in
            let endpoint = TokenEndpoint(
                server: server,
                client: OAuthClient(id: "a"),
                transport: ReplyTransport { _ in HttpResponse(body: Data()) }
            )
            let request = try endpoint.authorize(redirect: "app://x/")
            guard let url = URL(string: text) else { return {} }
            return { _ = try? await endpoint.exchange(url, for: request) }
        },
        Growth(name: "OAuth scope", shapes: [" ", "a", "a ", "\u{1F1E9} "].map { .init(piece: $0) }) { text in
            { keep(OAuthScope(parsing: text)) }
        },
        Growth(
            name: "stored credential",
            shapes: jsonShapes.flatMap { [$0, $0.behind("{\"format\":\"nautilus-credential\",\"version\":")] }
        ) { text in
            let data = Data(text.utf8)
            return { _ = try? CredentialFormat.decode(data, for: CredentialKey(issuer: "a", client: "b"), place: "c") }
        },
    ]
}

// MARK: - Doors

extension ParserSuite {
    private static func field(_ name: String, _ read: @escaping @Sendable (HttpHeader) -> Int) -> Growth {
        Growth(name: name, shapes: fieldShapes) { text in
            let header: HttpHeader = [.init(name): text]
            return { keep(read(header)) }
        }
    }

    /// A response with the field, twice, to a service whose interceptors look at it.
    private static func response(
        _ name: String,
        with others: HttpHeader = [:],
        status: Int = 200,
        method: HttpMethod = .get,
        through interceptors: @escaping @Sendable () -> [any HttpInterceptor]
    ) -> Growth {
        Growth(name: name, shapes: fieldShapes) { text in
            let header = others.merging([.init(name): text])
            return {
                let service = ReplyService(interceptors: interceptors()) { request in
                    HttpResponse(
                        status: request.header["If-None-Match"] == nil ? status : 304,
                        header: header,
                        body: Data()
                    )
                }
                for _ in 0..<2 { try? await service.ask(method) }
            }
        }
    }

    private static func body(
        _ name: String,
        _ shapes: [Growth.Shape],
        chunk: Int = 1 << 14,
        _ read: @escaping @Sendable (HttpBodyStream) async throws -> Void
    ) -> Growth {
        Growth(name: name, shapes: shapes) { text in
            let bytes = Data(text.utf8)
            let chunks = stride(from: 0, to: bytes.count, by: chunk).map { bytes[$0..<min($0 + chunk, bytes.count)] }
            return {
                let iterator = Chunks(chunks)
                try? await read(HttpBodyStream { iterator.next() })
            }
        }
    }

    private static func reply(
        _ name: String,
        status: Int = 200,
        _ ask: @escaping @Sendable (TokenEndpoint) async throws -> Void
    ) -> Growth {
        Growth(name: name, shapes: jsonShapes) { text in
            let transport = ReplyTransport { _ in HttpResponse(status: status, body: Data(text.utf8)) }
            let endpoint = TokenEndpoint(server: server, client: OAuthClient(id: "a"), transport: transport)
            return { try? await ask(endpoint) }
        }
    }
}

extension Growth.Shape {
    fileprivate func behind(_ text: String) -> Growth.Shape { .init(piece: piece, start: text + start, end: end) }
}

private final class Chunks: @unchecked Sendable {
    private var rest: ArraySlice<Data>
    init(_ chunks: [Data]) { rest = chunks[...] }
    func next() -> Data? { rest.popFirst() }
}

private struct ReplyTransport: HttpTransport {
    let reply: @Sendable (HttpRequest) -> HttpResponse<Data>
    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> { reply(request) }
}

private struct ReplyService: HttpService {
    var apiUrl: any UrlConvertible = "https://api.example.com"
    let interceptors: [any HttpInterceptor]
    let transport: any HttpTransport
    init(
        apiUrl: String = "https://api.example.com",
        interceptors: [any HttpInterceptor],
        reply: @escaping @Sendable (HttpRequest) -> HttpResponse<Data>
    ) {
        self.apiUrl = apiUrl
        self.interceptors = interceptors
        self.transport = ReplyTransport(reply: reply)
    }
    func ask(_ method: HttpMethod = .get) async throws {
        keep(try await GetAnything(method: method).response(with: self).status)
    }
}

private struct GetAnything: Request {
    typealias Result = Data
    var method = HttpMethod.get
    var route: HttpRoute { ["first"] }
    var acceptedStatusCodes: HttpStatusCodes { [.success, 304] }
}

private struct GetPages: PaginatedRequest {
    typealias Result = Data
    var route: HttpRoute { [] }
    var pagination: Pagination<Self> { .link() }
    func items(of page: Data) -> [Int] { [] }
}

@inline(never)
private func keep<Value>(_ value: Value) {}
