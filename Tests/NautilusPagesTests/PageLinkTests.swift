import Foundation
import Nautilus
import NautilusPages
import NautilusTesting
import TestSupport
import Testing

@Suite("Pages by link", .endsInTime)
struct PageLinkTests {
    @Test(
        "a link is resolved against the page's URL, and takes the place of base, route and query",
        arguments: [
            ("https://api.example.com/v1/numbers?page=2", "https://api.example.com/v1/numbers?page=2"),
            ("/v2/numbers?page=2", "https://api.example.com/v2/numbers?page=2"),
            ("numbers;page=2", "https://api.example.com/v1/numbers;page=2"),
            ("?page=2", "https://api.example.com/v1/numbers?page=2"),
            ("?q=a%2Fb&p={x}", "https://api.example.com/v1/numbers?q=a%2Fb&p=%7Bx%7D"),
            ("//api.example.com/n", "https://api.example.com/n"),
            ("/n?page=2#top", "https://api.example.com/n?page=2"),
            ("HTTPS://API.example.com:443/n", "https://api.example.com:443/n"),
        ]
    )
    func resolves(link: String, expected: String) async throws {
        let transport = ScriptedTransport(
            .json([1], header: ["Link": "<\(link)>; rel=\"next\""]),
            .json([2], header: ["Link": "<https://api.example.com/v1/numbers>; rel=\"prev\""])
        )
        #expect(try await LinkedPages().items(with: PageService(transport: transport)).all() == [1, 2])
        #expect(
            transport.attempts.map(\.request.url.absoluteString) == [
                "https://api.example.com/v1/numbers?filter=odd", expected,
            ]
        )
    }

    @Test("a list is read backwards by another relation")
    func backwards() async throws {
        struct Backwards: JsonRequest, PaginatedRequest {
            typealias Result = [Int]
            var pagination: Pagination<Self> { .link("prev") }
            var route: HttpRoute { ["numbers", "last"] }
        }
        let transport = ScriptedTransport(
            .json([3], header: ["Link": "</numbers/2>; rel=\"prev\", </numbers/4>; rel=\"next\""]),
            .json([2], header: ["Link": "</numbers/1>; rel=\"prev\""]),
            .json([1], header: ["Link": "</numbers/2>; rel=\"next\""])
        )
        #expect(try await Backwards().items(with: PageService(transport: transport)).all() == [3, 2, 1])
        #expect(transport.attempts.map { $0.request.url.lastPathComponent } == ["last", "2", "1"])
    }

    @Test("the retrier of each page is made for the request that was declared")
    func retriers() async throws {
        let declared = Counter()
        let factory = AnyRetrierFactory { request in
            if request is LinkedPages { declared.increment() }
            return NilRetrier()
        }
        let transport = ScriptedTransport(
            .json([1], header: ["Link": "<2>; rel=next"]),
            .json([2])
        )
        let service = PageService(transport: transport, retrierFactory: factory)
        #expect(try await LinkedPages().items(with: service).all() == [1, 2])
        #expect(declared.value == 2)
    }

    @Test(
        "a relative link is resolved against where redirects have led, and against what was asked for without a response"
    )
    func redirected() async throws {
        let transport = ScriptedTransport(
            .status(302, header: ["Location": "/moved/numbers"]),
            .json([1], header: ["Link": "<2>; rel=next"]),
            .json([2], header: ["Link": "<3>; rel=next"]),
            .json([3])
        )
        #expect(try await LinkedPages().items(with: PageService(transport: transport)).all() == [1, 2, 3])
        #expect(
            transport.attempts.map(\.request.url.path) == ["/v1/numbers", "/moved/numbers", "/moved/2", "/moved/3"]
        )

        struct Cache: NetworkInterceptor {
            let transport: ScriptedTransport
            func intercept(
                _ request: HttpRequest,
                context: AttemptContext,
                next: Next
            ) async throws -> HttpResponse<Data> {
                var response = try await transport.send(request, context: TransportContext())
                response.url = nil
                return response
            }
        }
        let cached = ScriptedTransport(
            .json([1], header: ["Link": "<2>; rel=next"]),
            .json([2], header: ["Link": "<3>; rel=next"]),
            .json([3])
        )
        let service = PageService(transport: ScriptedTransport())
            .with { $0.interceptors = [Cache(transport: cached)] }
        #expect(try await LinkedPages().items(with: service).all() == [1, 2, 3])
        #expect(cached.attempts.map(\.request.url.path) == ["/v1/numbers", "/v1/2", "/v1/3"])
    }

    @Test(
        "credentials go along within the service's origin, and to no other",
        arguments: [
            ("https://api.example.com/n", true), ("https://api.example.com:443/n", true), ("/n", true),
            ("https://api.example.com:8443/n", false), ("https://cdn.example.com/n", false),
            ("https://api.example.com.evil.example/n", false), ("//evil.example/n", false),
        ]
    )
    func credentials(link: String, goAlong: Bool) async throws {
        try await simulate { simulation in
            let world = TokenWorld(simulation, accepting: [1]) { request, _ in
                request.url.path == "/v1/numbers"
                    ? .json([1], header: ["Link": "<\(link)>; rel=next"]) : .json([2])
            }
            let service = AnyHttpService(
                apiUrl: "https://api.example.com/v1",
                retrierFactory: AuthorizationRetrier.factory(world.coordinator),
                transport: world.transport,
                clock: simulation.clock
            ).with { $0.header = ["X-Api-Key": "service", "X-App": "notes"] }
            let request = LinkedPages(header: ["X-Session-Token": "own", "X-Page": "small"])
            let numbers = try await request.items(with: service).all()
            #expect(numbers == [1, 2])
            let headers = world.transport.attempts.map(\.header)
            for name in ["Authorization", "X-Api-Key", "X-Session-Token"] as [HttpHeader.Name] {
                #expect(headers[0][name] != nil)
                #expect((headers[1][name] != nil) == goAlong)
            }
            // As in a redirect: a field of the service's own may be a credential under a name of its own.
            #expect(headers.map { $0["X-App"] } == ["notes", goAlong ? "notes" : nil])
            #expect(headers.map { $0["X-Page"] } == ["small", goAlong ? "small" : nil])
        }
    }

    @Test("the request's own credentials stay with its own origin, where it has another than the service")
    func ownOrigin() async throws {
        let transport = ScriptedTransport(
            .json([1], header: ["Link": "<https://other.example.com/2>; rel=next"]),
            .json([2], header: ["Link": "<https://third.example.com/3>; rel=next"]),
            .json([3], header: ["Link": "<https://other.example.com/4>; rel=next"]),
            .json([4])
        )
        let request = LinkedPages(url: "https://other.example.com", header: ["X-Session-Token": "own"])
        var service = PageService(transport: transport)
        service.header = ["X-Api-Key": "service"]
        #expect(try await request.items(with: service).all() == [1, 2, 3, 4])
        #expect(transport.attempts.map { $0.header["X-Session-Token"] } == ["own", "own", nil, "own"])
        #expect(transport.attempts.allSatisfy { $0.header["X-Api-Key"] == nil })
    }

    @Test(
        "a link that leads nowhere is an error of its own, after its page",
        arguments: [
            ("http://api.example.com/n", PaginationError.insecureLink(page: 1)),
            ("ftp://api.example.com/n", .invalidLink(page: 1)), ("javascript:alert(1)", .invalidLink(page: 1)),
            ("https://", .invalidLink(page: 1)), ("https:///n", .invalidLink(page: 1)),
        ]
    )
    func nowhere(link: String, expected: PaginationError) async throws {
        let transport = ScriptedTransport(.json([1], header: ["Link": "<\(link)>; rel=next"]))
        var items = LinkedPages().items(with: PageService(transport: transport)).makeAsyncIterator()
        #expect(try await items.next() == 1)
        do throws(PageFailure) {
            _ = try await items.next()
            Issue.record("the link should be refused")
        } catch {
            #expect(error.pagination == expected)
            #expect(error.error.kind == .custom)
            #expect(error.error.delivery == .notSent)
        }
        #expect(try await items.next() == nil)
        #expect(transport.count == 1)
    }

    @Test("a user or a password in a link is refused before anything is sent")
    func password() async throws {
        let transport = ScriptedTransport(
            .json([1], header: ["Link": "<https://me:s3cret@api.example.com/n>; rel=next"])
        )
        do {
            _ = try await LinkedPages().items(with: PageService(transport: transport)).all()
            Issue.record("the link should be refused")
        } catch let error as PageFailure {
            guard case .invalidRequest(.baseUrl) = error.error.kind else {
                Issue.record("\(error.error)")
                return
            }
            #expect(!"\(error.error) \(error.error.trace)".contains("s3cret"))
        }
        #expect(transport.count == 1)
    }

    @Test("a next page does not print its link")
    func redaction() {
        let next = NextPage<LinkedPages>.link("/2?cursor=s3cret")
        var dumped = ""
        dump(next, to: &dumped)
        #expect(!"\(next) \(String(reflecting: next)) \(dumped)".contains("s3cret"))
    }

    @Test("plain http may link to plain http")
    func plain() async throws {
        let transport = ScriptedTransport(.json([1], header: ["Link": "</2>; rel=next"]), .json([2]))
        let service = PageService(transport: transport).with { $0.apiUrl = "http://localhost:8080" }
        #expect(try await LinkedPages().items(with: service).all() == [1, 2])
        #expect(transport.attempts.last?.request.url.absoluteString == "http://localhost:8080/2")
    }

    @Test(
        "F10: an unreadable link that was meant to lead to the next page ends the list with an error",
        arguments: [
            "https://api.example.com/2; rel=\"next\"", "https://api.example.com/2; REL=Next", "/2;rel=next",
            "</2>; rel='next", "</2> rel=\"next\"", "</2>; rel: \"next\"", "</2>; rel=next\"",
            "</2; rel=\"next\", </9>; rel=\"last\"", "</2>; rel=\"next, </9>; rel=\"last\"",
            "</9>; rel=last, /2; rel=\"prev next\"", "<https://a.example/2; rel=next",
            "</2>; rel=\"next,last\"", "</2>; rel=last|next", "/2; rel=\"last,next\"",
        ]
    )
    func unreadable(field: String) async throws {
        let transport = ScriptedTransport(.json([1], header: ["Link": field]))
        var items = LinkedPages().items(with: PageService(transport: transport)).makeAsyncIterator()
        #expect(try await items.next() == 1)
        do throws(PageFailure) {
            _ = try await items.next()
            Issue.record("the list should not end in silence")
        } catch {
            #expect(error.pagination == .unreadableLink(relation: "next"))
            #expect(error.error.delivery == .notSent)
            #expect("\(error.error)".contains("link next cannot be read"))
        }
        #expect(try await items.next() == nil)
        #expect(transport.count == 1)
    }

    @Test(
        "F10: single quotes are accepted around a parameter's value, and apostrophes within one",
        arguments: [
            "</2>; rel='next'", "</2>; rel = 'next' ; title='a b'", "</1>; rel='prev', </2>; rel='last next'",
            "</2>; title='twas; rel=next", "</2>; title='it's'; rel=next", "/9; rel=prev, </2>; rel='next'",
        ]
    )
    func singleQuotes(field: String) async throws {
        let transport = ScriptedTransport(.json([1], header: ["Link": field]), .json([2]))
        #expect(try await LinkedPages().items(with: PageService(transport: transport)).all() == [1, 2])
        #expect(transport.attempts.last?.request.url.path == "/2")
    }

    @Test(
        "F10: unreadable links that are not the next page's change nothing about the last page",
        arguments: [
            "</1>; rel=\"prev\", https://api.example.com/1; rel=first", "garbage", "", "<", "</1", "next",
            "</next>; rel=\"prev\" next", "</2>; rel=next; anchor=\"/other\"", "</2?rel=next>; rel=last; x\"",
            "<https://a.example/rels/next>; rel=\"https://a.example/rels/next\"",
            "https://a.example/?rel=next; rel=last",
            "</2>; rel=prev; rel=next", "</2>; title=\"a rel=next\"",
            "</style.css>; rel=preload; as=style, x; rel=\"nextish\"",
        ]
    )
    func otherLinks(field: String) async throws {
        let transport = ScriptedTransport(.json([1], header: ["Link": field]))
        #expect(try await LinkedPages().items(with: PageService(transport: transport)).all() == [1])
        #expect(transport.count == 1)
    }
}
