import DemoServers
import Foundation
import Nautilus
import NautilusPages
import NotesAPI
import Testing

@Suite("Pages over real sockets", .timeLimit(.minutes(10)))
struct PageWireTests {
    /// A list by links.
    private struct Shells: JsonRequest, PaginatedRequest {
        typealias Result = [Int]
        var route: HttpRoute { ["shells"] }
        var pagination: Pagination<Self> { .link() }
    }

    @Test(
        "all notes, page by page, with a token known to have expired: one refresh, one request for each page",
        arguments: [false, true]
    )
    func notes(isPrefetching: Bool) async throws {
        let server = try await DemoServer.start(environment: "staging", noteCount: 95)
        let notes = try NotesService.test(server, await server.signInExpired(), lifetime: .zero)
        var ids: [Int] = []
        for try await note in ListNotes().items(with: notes, prefetching: isPrefetching) { ids.append(note.id) }
        #expect(ids == Array(1...95))
        let counters = await server.counters
        #expect(counters.refreshes == 1)
        #expect(counters.answers == [200: 10])
        await server.stop()
    }

    @Test("a page that fails for a moment is asked for again by its own retrier, and the others are not")
    func retries() async throws {
        let server = try await StubServer.start { request, number in
            switch number {
            case 1: .status(200, header: ["Link": "</v1/shells/2>; rel=\"next\""], json: "[1, 2]")
            case 2, 4: .drop
            case 3: .status(503)
            case 5: .status(200, header: ["Link": "<3>; rel=\"next\", </v1/shells>; rel=\"prev\""], json: "[]")
            default: .status(200, json: "[3]")
            }
        }
        let service = try NotesService.test(NotesEnvironment(server))
        let pages = Shells().pages(with: service)
        var (numbers, attempts): ([Int], [Int]) = ([], [])
        for try await page in pages {
            numbers += page.body
            attempts.append(page.trace.attempts.count)
        }
        #expect(numbers == [1, 2, 3])
        #expect(attempts == [1, 4, 1])
        #expect(
            await server.requests.map(\.path)
                == ["/v1/shells"] + Array(repeating: "/v1/shells/2", count: 4) + ["/v1/shells/3"]
        )
        await server.stop()
    }

    @Test("a link to another server takes no credential along, and one that leads back to the first is a circle")
    func otherOrigin() async throws {
        let other = Locator()
        let first = try await StubServer.start { _, _ in
            .status(200, header: ["Link": "<\(other.url)/shells>; rel=\"next\""], json: "[1]")
        }
        let second = try await StubServer.start { _, _ in
            .status(200, header: ["Link": "<\(first.origin)/v1/shells>; rel=\"next\""], json: "[2]")
        }
        other.url = second.origin
        let service = try NotesService.test(NotesEnvironment(first))
        var numbers: [Int] = []
        var shells = Shells().items(with: service).makeAsyncIterator()
        do throws(NotesError) {
            while let number = try await shells.next() { numbers.append(number) }
            Issue.record("the circle should be found")
        } catch {
            #expect(error.httpError.underlying as? PaginationError == .loop(page: 2))
        }
        #expect(numbers == [1, 2])
        #expect(await first.requests.map(\.authorization) == ["Bearer old"])
        #expect(await second.requests.map(\.authorization) == [nil])
        await first.stop()
        await second.stop()
    }
}

/// A URL that becomes known only after the server that needs it has started.
private final class Locator: @unchecked Sendable {
    // Unchecked: guarded by the lock.
    private let lock = NSLock()
    private var text = ""
    var url: String {
        get { lock.withLock { text } }
        set { lock.withLock { text = newValue } }
    }
}
