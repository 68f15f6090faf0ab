import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("The timeout of an upload")
struct UploadTimeoutTests {
    /// Takes as long for each part of a body, and then for its answer.
    private struct SlowUplink: HttpTransport {
        let pause: Duration
        let answer: Duration
        let clock: any Clock<Duration>

        func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
            var parts = 0
            switch request.body {
            case .empty: break
            case .data(let data):
                for _ in 0..<(data.count / 65_536) {
                    parts += await pass()
                    context.noteBodyPart()
                }
            case .stream(let stream): for try await _ in stream { parts += await pass() }
            }
            try await clock.sleep(for: answer)
            return HttpResponse(status: 200, header: [:], body: Data("\(parts)".utf8))
        }

        private func pass() async -> Int {
            try? await clock.sleep(for: pause)
            return 1
        }
    }

    private struct Upload: Request {
        let method = HttpMethod.put
        let body: HttpBody
        let timeout: Duration? = .seconds(10)
        var route: HttpRoute { [] }
        func decode(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
    }

    private func outcome(
        of body: HttpBody,
        pause: Int,
        answer: Int = 9
    ) async throws -> (String, Duration) {
        try await simulate { simulation in
            let clock = simulation.clock
            let transport = SlowUplink(pause: .seconds(pause), answer: .seconds(answer), clock: clock)
            let service = AnyHttpService(apiUrl: "a.com", transport: transport, clock: clock)
            let start = clock.now
            do throws(HttpError) {
                let parts = try await Upload(body: body).schedule(with: service)
                return (parts, start.duration(to: clock.now))
            } catch {
                return ("\(error.kind)", start.duration(to: clock.now))
            }
        }
    }

    private let stream = HttpBody.stream(length: 300) {
        AsyncStream<Data> { parts in
            for _ in 1...3 { parts.yield(Data(count: 100)) }
            parts.finish()
        }
    }

    @Test("an upload's timeout bounds each part, and then the answer, and not all of them together")
    func parts() async throws {
        #expect(try await outcome(of: stream, pause: 9) == ("3", .seconds(36)))
        #expect(try await outcome(of: stream, pause: 11) == (timeout, .seconds(10)))
        #expect(try await outcome(of: stream, pause: 9, answer: 11) == (timeout, .seconds(37)))
    }

    @Test("an upload's timeout bounds each part of a file, and of bytes if the transport reports parts")
    func bytes() async throws {
        let folder = try TemporaryFolder()
        let many = Data(count: 4 * 65_536)
        for body in [HttpBody.file(try folder.file("a", many)), .data(many)] {
            #expect(try await outcome(of: body, pause: 9) == ("4", .seconds(4 * 9 + 9)))
            #expect(try await outcome(of: body, pause: 11) == (timeout, .seconds(10)))
        }
    }

    @Test("an upload's timeout begins anew with each part, by a timer as well")
    func alarm() async throws {
        let clock = ManualClock()
        let stopwatch = Stopwatch(clock)
        let progress = ExchangeProgress(stopwatch)
        #expect(progress.uncounted == .zero)
        clock.advance(by: .seconds(4))
        progress.beginWaiting()
        clock.advance(by: .seconds(1))
        progress.endWaiting()
        #expect(progress.uncounted == .seconds(1))
        progress.notePart()
        clock.advance(by: .seconds(1))
        #expect(progress.uncounted == .seconds(5))
    }

    private var timeout: String { "\(FailureKind.timeout(.seconds(10)))" }
}
