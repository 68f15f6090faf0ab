import Foundation
import Nautilus
import NautilusTesting
import Testing

extension TestKit {
    @Suite("ScriptedTransport")
    struct ScriptedTransportTests {
        private typealias Exhausted = ScriptedTransport.Exhausted

        @Test("replies come in the order of the script, with the request's URL")
        func order() async throws {
            let transport = ScriptedTransport(.status(503), .status(503), .json(["id": 7]))
            var statuses: [Int] = []
            for _ in 1...2 { statuses.append(try await transport.get("/notes?page=1").status) }
            let last = try await transport.get("/notes?page=1")
            #expect(statuses + [last.status] == [503, 503, 200])
            #expect(last.url?.absoluteString == "https://api.example.com/notes?page=1")
            #expect(last.header[.contentType] == "application/json")
            #expect(String(bytes: last.body, encoding: .utf8) == #"{"id":7}"#)
            #expect(transport.count == 3)
        }

        @Test("F27: a scripted failure has the delivery that its code has in production, for every code")
        func deliveries() async throws {
            for code in (-4000...0).compactMap({ URLError.Code(rawValue: $0) }) {
                guard case .failed(_, let expected, _) = TransportError(code) else { continue }
                let transport = ScriptedTransport(.fail(code), .fail(code, delivery: .rejected))
                for delivery in [expected, .rejected] {
                    let error = await #expect(throws: TransportError.self) { try await transport.get("/notes") }
                    #expect(error == .failed(code, delivery: delivery, reason: "scripted failure"))
                }
            }
            let refused = AnyHttpService(
                apiUrl: "api.example.com",
                transport: ScriptedTransport(.fail(.cannotConnectToHost))
            )
            let error = await #expect(throws: HttpError.self) {
                try await AnyRequest(.post, ["notes"]).schedule(with: refused)
            }
            #expect(error?.delivery == .notSent)
        }

        @Test("an attempt beyond the script is an error that names it, without its query")
        func exhausted() async throws {
            let transport = ScriptedTransport(.status(200))
            _ = try await transport.get("/notes")
            let error = await #expect(throws: Exhausted.self) { try await transport.get("/notes?token=secret") }
            #expect(error?.replyCount == 1)
            #expect(error?.description.contains("GET https://api.example.com/notes?…") == true)
            #expect(error?.description.contains("secret") == false)
            #expect(transport.count == 2)
        }

        @Test("the error names the routes, and says so when none of them fits")
        func misspelled() async {
            let transport = ScriptedTransport()
            transport.on(.get, "/notes/*", .status(200)).on(.post, "/notes", .status(201))
            let missed = await #expect(throws: Exhausted.self) { try await transport.get("/note/7?token=secret") }
            #expect(
                missed?.description == """
                    No route fits GET https://api.example.com/note/7?…, and there are no replies for other requests. \
                    The routes with scripts of their own are GET /notes/*, POST /notes.
                    """
            )
            _ = try? await transport.get("/notes/7")
            let used = await #expect(throws: Exhausted.self) { try await transport.get("/notes/8") }
            #expect(
                used?.description == """
                    The script has 1 replies and all are used, but GET https://api.example.com/notes/8 was sent. \
                    The routes with scripts of their own are GET /notes/*, POST /notes. \
                    Add a reply, or pass `afterLast: .repeat`.
                    """
            )
        }

        @Test("the last reply repeats when it is told to")
        func repeating() async throws {
            let transport = ScriptedTransport(.status(503), .status(200), afterLast: .repeat)
            var statuses: [Int] = []
            for _ in 1...4 { statuses.append(try await transport.get("/").status) }
            #expect(statuses == [503, 200, 200, 200])
        }

        @Test("a script without replies fails every attempt, even when it should repeat its last")
        func empty() async {
            await #expect(throws: Exhausted.self) { try await ScriptedTransport().get("/") }
            await #expect(throws: Exhausted.self) { try await ScriptedTransport(afterLast: .repeat).get("/") }
        }

        @Test("failures are thrown as they are scripted")
        func failures() async throws {
            struct Odd: Error, Equatable {}
            let transport = ScriptedTransport(
                .fail(.cannotConnectToHost, delivery: .notSent),
                .fail(TransportError.responseTooLarge(limit: 9)),
                .fail(Odd())
            )
            let first = await #expect(throws: TransportError.self) { try await transport.get("/") }
            guard case .failed(.cannotConnectToHost, delivery: .notSent, reason: _)? = first else {
                Issue.record("\(String(describing: first))")
                return
            }
            await #expect(throws: TransportError.responseTooLarge(limit: 9)) { try await transport.get("/") }
            await #expect(throws: Odd()) { try await transport.get("/") }
            #expect(
                transport.attempts.map(\.outcome.description) == [
                    "failed, scripted failure (URLError -1004)",
                    "failed, The response is larger than 9 bytes; raise the transport's limit if it should be.",
                    "failed, Odd",
                ]
            )
        }

        @Test("a value that cannot be encoded fails its attempt with the encoder's error")
        func unencodable() async {
            await #expect(throws: EncodingError.self) { try await ScriptedTransport(.json(Double.nan)).get("/") }
        }

        @Test("a JSON reply's own fields win")
        func jsonHeader() async throws {
            let transport = ScriptedTransport(
                .json([1], status: 201, header: ["Content-Type": "application/vnd.notes+json", "ETag": "x"])
            )
            let response = try await transport.get("/")
            #expect(response.status == 201)
            #expect(response.header.values(of: .contentType) == ["application/vnd.notes+json"])
            #expect(response.header["ETag"] == "x")
        }

        @Test("routes have scripts of their own, a star stands for one component, the last that fits is taken")
        func routes() async throws {
            let transport = ScriptedTransport(.status(404), afterLast: .repeat)
                .on(.get, "/v1/notes/*", .status(200), afterLast: .repeat)
                .on(.get, "/v1/notes/7", .status(410), .status(200))
                .on(.post, "/v1/notes") { _, _ in .status(201) }
            #expect(try await transport.get("/v1/notes/7?x=1").status == 410)
            #expect(try await transport.get("/v1/notes/8").status == 200)
            #expect(try await transport.get("/v1/notes/8/tags").status == 404)
            #expect(try await transport.get("/v1/notes/7").status == 200)
            #expect(try await transport.get("/v1/notes").status == 404)
            #expect(try await transport.send("/v1/notes", method: .post).status == 201)
            #expect(try await transport.send("/v1/notes", method: .post).status == 201)
            #expect(transport.count(of: .get, "/v1/notes/*") == 3)
            #expect(transport.count(of: .get, "/v1/notes/7") == 2)
            #expect(transport.attempts(at: .post, "/v1/notes").count == 2)
            #expect(transport.count == 7)
        }

        @Test("a route with a host fits requests to that host")
        func hosts() async throws {
            let transport = ScriptedTransport()
                .on(.get, "/notes", .status(200), afterLast: .repeat)
                .on(.get, "staging.example.com/notes", .status(410))
            for (host, status) in [("api.example.com", 200), ("staging.example.com:8443", 410)] {
                let service = AnyHttpService<HttpError>(apiUrl: "https://\(host)", transport: transport)
                let request = AnyRequest(.get, ["notes"], as: String.self).with {
                    $0.acceptedStatusCodes = [.success, 410]
                }
                #expect(try await request.response(with: service).status == status)
            }
            #expect(transport.count(of: .get, "staging.example.com/*") == 1)
        }

        @Test("a route that is scripted again starts its new script")
        func rescripted() async throws {
            let transport = ScriptedTransport()
            transport.on(.get, "/a", .status(500), .status(501))
            #expect(try await transport.get("/a").status == 500)
            transport.on(.get, "/a", .status(200))
            #expect(try await transport.get("/a").status == 200)
            await #expect(throws: Exhausted.self) { try await transport.get("/a") }
        }

        @Test("a responder models a server, after the replies that come before it")
        func responder() async throws {
            let transport = ScriptedTransport(
                .status(503),
                .respond { request, context in
                    guard request.header[.authorization] == "Bearer new" else { return .status(401) }
                    return .reply(text: "attempt \(context.number)")
                }
            )
            #expect(try await transport.get("/").status == 503)
            #expect(try await transport.get("/", header: [.authorization: "Bearer old"]).status == 401)
            let answer = try await transport.get("/", header: [.authorization: "Bearer new"], number: 3)
            #expect(String(bytes: answer.body, encoding: .utf8) == "attempt 3")
            #expect(transport.attempts.map(\.context.number) == [1, 1, 3])
        }

        @Test("a hundred attempts at once each take one reply")
        func concurrent() async throws {
            let transport = ScriptedTransport()
            transport.on(.get, "/barrier") { _, _ in
                try await transport.waitForAttempts(count: 100)
                return .status(200)
            }
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<100 { group.addTask { try await transport.get("/barrier").status } }
                for try await status in group { #expect(status == 200) }
            }
            #expect(transport.count == 100)
            #expect(transport.maxInFlightCount == 100)
            #expect(transport.inFlightCount == 0)
        }
    }
}

extension ScriptedTransport {
    /// Sends one GET to a made-up server.
    func get(_ path: String, header: HttpHeader = [:], number: Int = 1) async throws -> HttpResponse<Data> {
        try await send(path, header: header, number: number)
    }

    /// Sends one attempt to a made-up server.
    func send(
        _ path: String,
        method: HttpMethod = .get,
        header: HttpHeader = [:],
        body: HttpBody.Payload = .empty,
        number: Int = 1
    ) async throws -> HttpResponse<Data> {
        let url = try #require(URL(string: "https://api.example.com\(path)"))
        return try await send(
            HttpRequest(method: method, url: url, header: header, body: body),
            context: TransportContext(number: number)
        )
    }
}
