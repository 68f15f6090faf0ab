import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("A transport that tells when it writes")
struct ConnectingTests {
    @Test("a timeout before the transport writes has sent nothing, so that even a POST is tried again")
    func timeoutWhileConnecting() async throws {
        let outcome = try await outcome(of: Ping(method: .post, timeout: .seconds(3))) { clock in
            ScriptedTransport(clock: clock) { _, context in
                context.beginConnecting()
                if context.number == 1 { return .hang }
                context.noteSending()
                return .reply(text: "ok")
            }
        }
        #expect(outcome.error == nil)
        #expect(outcome.attempts == 2)
        #expect(outcome.trace.attempts.first?.outcome == .failed(.send, .timeout(.seconds(3)), .notSent))
        #expect(outcome.trace.exchanges.map(\.delivery) == [.notSent, .maybeExecuted])
    }

    @Test("a timeout after the transport writes may have sent everything")
    func timeoutWhileSending() async throws {
        let outcome = try await outcome(of: Ping(method: .post, timeout: .seconds(3))) { clock in
            ScriptedTransport(clock: clock) { _, context in
                context.beginConnecting()
                context.noteSending()
                return .hang
            }
        }
        #expect(outcome.attempts == 1)
        #expect(outcome.error?.kind == .timeout(.seconds(3)))
        #expect(outcome.error?.delivery == .maybeExecuted)
    }

    @Test("a transport that finds the session over while it waits for a connection has sent nothing")
    func sessionOver() async throws {
        let session = CallSession()
        let transport = ScriptedTransport { request, _ in
            session.finish(.signedOut)
            if let refusal = request.refusal { throw refusal }
            return .reply(text: "written")
        }
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: AnyRetrierFactory.authorizing(with: TaggedCredential(session: session)),
            transport: transport
        )
        let error = await #expect(throws: HttpError.self) { try await Ping.post.schedule(with: service) }
        #expect(error?.requiresSignIn == true)
        #expect(error?.delivery == .notSent)
    }

    /// A credential that only tags the request.
    private struct TaggedCredential: CallCredential {
        let session: CallSession

        func ready() async throws {}

        func authorize(_ request: inout HttpRequest) throws -> Bool {
            request.authorize(as: CredentialTag(session: session, generation: 1)) { _ in }
            return true
        }
    }

    @Test("a transport tells when it writes for each hop of a redirect")
    func nextHop() async throws {
        for isTold in [false, true] {
            let outcome = try await outcome(of: Ping(method: .put, timeout: .seconds(3)), retrier: .never) {
                clock in
                ScriptedTransport(clock: clock) { request, context in
                    guard request.url.path.hasSuffix("next") else {
                        context.beginConnecting()
                        return .status(307, header: [.location: "/next"])
                    }
                    if isTold { context.beginConnecting() }
                    return .hang
                }
            }
            #expect(outcome.trace.exchanges.map(\.delivery) == [.rejected, isTold ? .notSent : .maybeExecuted])
            // The first hop was answered, by a server that did nothing but point elsewhere.
            #expect(outcome.error?.delivery == (isTold ? .rejected : .maybeExecuted))
        }
    }

    @Test("a transport tells how its connection came about, for the record and its description")
    func connection() async throws {
        let new = CallTrace.Exchange.Connection(
            nameLookup: .milliseconds(2),
            connect: .milliseconds(3),
            secure: .milliseconds(5)
        )
        let outcome = try await outcome(
            of: Ping(),
            ScriptedTransport { _, context in
                context.noteConnection(context.number == 1 ? new : .reused)
                return context.number == 1 ? .status(503) : .reply(text: "ok")
            }
        )
        #expect(outcome.trace.exchanges.map(\.connection) == [new, .reused])
        #expect(outcome.trace.exchanges.map { $0.connection?.isReused } == [false, true])
        #expect(
            outcome.trace.exchanges.map { $0.description.hasSuffix(" (new: name 2 ms, connection 3 ms, TLS 5 ms)") }
                == [true, false]
        )
    }

    @Test(
        "F14: the trace tells that the transport itself has repeated the request, and how often",
        arguments: [
            (1, Duration.milliseconds(3), "repeated on a new connection"), (1, .zero, "repeated on another connection"),
            (2, .milliseconds(3), "repeated on a new connection, 2 times"),
        ]
    )
    func repeats(count: Int, connect: Duration, text: String) async throws {
        let connection = CallTrace.Exchange.Connection(connect: connect, repeats: count)
        for reply in [ScriptedReply.reply(text: "ok"), .status(404), .fail(.networkConnectionLost)] {
            let outcome = try await outcome(
                of: Ping(),
                retrier: .never,
                ScriptedTransport { _, context in
                    context.noteConnection(connection)
                    return reply
                }
            )
            #expect(outcome.trace.exchanges.map { $0.connection?.repeats } == [count])
            #expect(outcome.trace.exchanges.first?.description.contains(text) == true)
            #expect(outcome.trace.description.contains("\n      \(text)"))
            #expect(outcome.trace.exchanges.first?.connection?.isReused == (connect == .zero))
        }
    }

    @Test("F14: the trace says nothing of repeats where there were none")
    func noRepeats() async throws {
        let outcome = try await outcome(
            of: Ping(),
            ScriptedTransport { _, context in
                context.noteConnection(.reused)
                return .reply(text: "ok")
            }
        )
        #expect(!outcome.trace.description.contains("repeated"))
    }
}
