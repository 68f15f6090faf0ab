import Foundation
import NautilusPages
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("Readers whose task is cancelled")
struct CancelledReaderTests {
    /// Reads, is cancelled at the third element, and says how many came and what was thrown.
    private func read(
        _ next: sending @escaping () async throws -> Any?
    ) async -> (count: Int, isCancelled: Bool) {
        let count = Counter()
        let task = Task {
            do {
                while try await next() != nil {
                    if count.increment() == 3 { withUnsafeCurrentTask { $0?.cancel() } }
                }
                return false
            } catch let error as HttpError {
                return error.kind == .cancelled
            } catch {
                return error is CancellationError
            }
        }
        let isCancelled = await task.value
        return (count.value, isCancelled)
    }

    @Test("a reader of lines whose task is cancelled gets nothing more")
    func lines() async {
        var lines = HttpBodyStream(Data(String(repeating: "a\n", count: 1000).utf8)).lines().makeAsyncIterator()
        #expect(await read { try await lines.next() } == (3, true))
    }

    @Test("a reader of events whose task is cancelled gets nothing more")
    func events() async {
        let events = Data(String(repeating: "data: 1\n\n", count: 1000).utf8)
        let script = ScriptedTransport(.chunks(header: [.contentType: "text/event-stream"], [events]))
        let service = AnyHttpService(apiUrl: "api.example.com", transport: script)
        var reader = Ping.get.events(with: service).makeAsyncIterator()
        #expect(await read { try await reader.next() } == (3, true))
    }

    @Test("a reader of a body's events whose task is cancelled gets nothing more")
    func bodyEvents() async {
        let body = HttpBodyStream(Data(String(repeating: "data: 1\n\n", count: 1000).utf8))
        var events = body.events().makeAsyncIterator()
        #expect(await read { try await events.next() } == (3, true))
    }

    @Test("a reader of a page's items whose task is cancelled gets nothing more")
    func items() async {
        struct Numbers: PaginatedRequest, JsonRequest {
            typealias Result = [Int]
            var route: HttpRoute { [] }
            var pagination: Pagination<Self> { .custom { _ in nil } }
        }
        let script = ScriptedTransport(.reply(text: "[1, 2, 3, 4, 5]"))
        let service = AnyHttpService(apiUrl: "api.example.com", transport: script)
        var reader = Numbers().items(with: service).makeAsyncIterator()
        #expect(await read { try await reader.next() } == (3, true))
    }
}
