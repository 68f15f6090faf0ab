import Foundation
import Nautilus
import NautilusTesting
import ScriptedSockets
import Testing

@Suite("Transports that break a promise", .timeLimit(.minutes(10)))
struct BrokenPromiseTests {
    /// Every check that each flaw fails.
    private static let failures: [FlawedTransport.Flaw: Set<String>] = [
        .throwsForStatuses: [
            "every status is a response, not an error",
            "a 401 that asks for Basic credentials is returned with its body and header",
        ],
        .followsRedirects: ["a redirect is returned, not followed"],
        .keepsOneValue: ["header fields are found without regard to case, and lists keep all their values"],
        .joinsCookies: ["cookies come one by one, with the commas of their dates"],
        .cutsBodies: [
            "a large body arrives whole", "a large request body arrives whole",
            "a streamed response brings its status, its header, its length and every byte",
        ],
        .fillsEmptyBodies: [
            "every status is a response, not an error", "HEAD arrives as HEAD and has no body",
            "an empty body arrives as none", "an empty body is an empty body",
        ],
        .forgetsUrl: ["the response says where it came from"],
        .dropsQuery: [
            "method, path and query arrive as they are", "the response says where it came from",
            "concurrent exchanges get their own answers",
        ],
        .getsForHead: [
            "HEAD arrives as HEAD and has no body", "HEAD of something larger than the limit is no large body",
        ],
        .dropsHeader: [
            "header fields arrive as they are", "several values of one name all arrive",
            "a field that only the transport writes is refused", "concurrent exchanges get their own answers",
        ],
        .dropsBody: [
            "a body arrives byte for byte", "a body in chunks arrives whole and in order",
            "a large request body arrives whole", "concurrent exchanges get their own answers",
            "a stream is sent whole and in order", "a stream that fails ends the exchange with its own error",
            "a one-shot stream that has been read is refused, not sent",
        ],
        .swapsDelivery: [
            "a connection that is closed without an answer is a transport error, maybe executed",
            "a body that ends early is a transport error, maybe executed",
            "nobody listening is a transport error, not sent",
            "a one-shot stream that has been read is refused, not sent",
            "a streamed body that ends early is a transport error behind what has come, maybe executed",
        ],
        .renamesCancellation: [
            "cancelling ends an exchange that would never end", "a task that is already cancelled sends nothing",
            "cancelling the reader of a streamed body ends it",
        ],
        .sendsWhenCancelled: ["a task that is already cancelled sends nothing"],
        .givesUpAfterFailure: [
            "a transport works on after a failure", "cancelling ends an exchange that would never end",
            "a task that is already cancelled sends nothing",
        ],
        .keepsCookies: ["a cookie that the server sets is not sent back"],
        .remembersAnswers: [
            "a response that may be cached is asked for again", "a task that is already cancelled sends nothing",
            "concurrent exchanges get their own answers",
        ],
        .refusesAtLimit: ["a body as large as the limit is taken", "a body larger than the limit is refused"],
        .ignoresLimit: ["a body larger than the limit is refused"],
        .limitsHead: ["HEAD of something larger than the limit is no large body"],
        .emptiesStreams: [
            "a streamed response brings its status, its header, its length and every byte",
            "a streamed response is there before its body has ended, and so is what has come of it",
            "a streamed body that ends early is a transport error behind what has come, maybe executed",
            "cancelling the reader of a streamed body ends it",
        ],
        .forgetsAnswers: [
            "an error status is not lost to a body that ends early, or is not coded as its header says",
            "an error status is not lost to a broken body if the request's body is a stream",
            "a success with a body that ends early is an error of the body, with the status in it",
        ],
        .passesCodedBytes: ["bytes with a transfer coding that is not undone are never a body"],
        .failsBrokenStreams: ["a streamed response brings its status, though its body is broken"],
    ]

    @Test("a broken promise fails its own check, and no other", .serialized, arguments: FlawedTransport.Flaw.allCases)
    func found(flaw: FlawedTransport.Flaw) async throws {
        #expect(try await failedChecks(of: flaw) == Self.failures[flaw])
    }

    @Test("every check of a transport's promises can fail")
    func complete() {
        let names = Self.checks(of: .forgetsUrl, origin: URL(fileURLWithPath: "/")).map(\.name)
        #expect(Set(names).count == names.count)
        #expect(Set(names) == Self.failures.values.reduce(into: []) { $0.formUnion($1) })
    }

    /// All checks at once, as a test with arguments runs them.
    private func failedChecks(of flaw: FlawedTransport.Flaw) async throws -> Set<String> {
        let script = ConformanceScript()
        return try await ScriptedServer.run {
            try await script.serve($0)
        } whileOpen: { server in
            await withTaskGroup(of: String?.self) { group in
                for check in Self.checks(of: flaw, origin: server.url) {
                    group.addTask {
                        do { try await check.run() } catch { return check.name }
                        return nil
                    }
                }
                return await group.reduce(into: []) { if let name = $1 { $0.insert(name) } }
            }
        }
    }

    private static func checks(of flaw: FlawedTransport.Flaw, origin: URL) -> [TransportConformance.Check] {
        TransportConformance.checks(
            of: { FlawedTransport(flaw) },
            limitedBy: { FlawedTransport(flaw, limit: $0) },
            origin: origin
        )
    }
}
