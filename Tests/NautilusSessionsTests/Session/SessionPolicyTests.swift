import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import TestSupport
import Testing

@Suite("A session with a retry policy")
struct SessionPolicyTests {
    /// A gate that notes what it is asked.
    private final class ForeignGate: RetryGate {
        let questions = Locked(0)

        func pass(to origin: HttpOrigin) async throws { questions.withLock { $0 += 1 } }
        func close(_ origin: HttpOrigin, for pause: Duration) { questions.withLock { $0 += 1 } }
        func remainingPause(of origin: HttpOrigin) -> Duration {
            questions.withLock { $0 += 1 }
            return .zero
        }
    }

    @Test("a session with a retry policy retries as often as the policy says, behind the session's gate and no other")
    func policy() async throws {
        try await TokenWorld.run { world in
            let (session, gate) = (try await world.signedIn(), ForeignGate())
            world.server.transport.on(.get, "/notes", .status(503), .status(503))
            let policy = BackoffRetrier.Configuration.standard.with {
                $0.maxAttempts = 2
                $0.budget = .unlimited
                $0.backoff = .exponential(base: .seconds(1))
                $0.random = FixedRandomSource(1)
                $0.gate = gate
            }
            let service = world.api.with { $0.retrierFactory = session.retrierFactory(policy) }
            do throws(HttpError) {
                _ = try await GetNotes().schedule(with: service)
                Issue.record("the call has not failed")
            } catch {
                #expect(error.status == 503 && error.trace.delays == [.seconds(1)])
            }
            #expect(world.server.carried == ["anna-1", "anna-1"])
            #expect(gate.questions.withLock { $0 } == 0)
        }
    }

    @Test("a sign-in is asked for when the session is over or was none, and not for a refresh that failed for now")
    func requiresSignIn() async throws {
        try await TokenWorld.run { world in
            #expect(await world.call(world.process()).error?.requiresSignIn == true)
            let session = try await world.signedIn()
            world.server.fail(.answered(.status(503)))
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).error?.requiresSignIn == false)

            try await world.sleep(.seconds(60))
            async let overtaken = world.call(session)
            try await world.sleep(.milliseconds(50))
            try await session.signIn(world.server.signIn("bert", at: world.date))
            #expect(await overtaken.error?.requiresSignIn == false)
            #expect(await overtaken.error?.isSuperseded == true)

            world.server.endSessions()
            #expect(await world.call(session).error?.requiresSignIn == true)
            #expect(await world.call(session).error?.isSuperseded == false)
        }
    }

    @Test("session.credentials reports each sign-in, also one that replaces another user, and the end")
    func credentials() async throws {
        try await TokenWorld.run { world in
            let session = world.process()
            var tokens = session.credentials.map { $0?.credential.value }.makeAsyncIterator()
            #expect(await tokens.next() == .some(nil))
            for user in ["anna", "bert"] {
                try await session.signIn(world.server.signIn(user, at: world.date))
                #expect(await tokens.next() == "\(user)-1")
            }
            try await session.signOut()
            #expect(await tokens.next() == .some(nil))
        }
    }

    @Test("an error of the server's, and one of another refresh underneath, ask for none")
    func others() {
        let cause = HttpError(.authorization, stage: .prepare, underlying: RefreshError.signedOut)
        let errors: [any Error] = [
            RefreshError.failed(remaining: .zero, underlying: cause),
            RefreshError.coolingDown(remaining: .zero, underlying: RefreshError.signedOut),
            RefreshError.superseded, RefreshError.recursive, cause,
        ]
        for error in errors {
            #expect(!HttpError(.authorization, stage: .prepare, underlying: error).requiresSignIn, "\(error)")
        }
        #expect(!HttpError(.status(401), stage: .validate).requiresSignIn)
    }
}
