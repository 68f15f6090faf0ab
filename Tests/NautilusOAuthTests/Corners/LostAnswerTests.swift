import Nautilus
import NautilusOAuth
import NautilusTesting
import TestSupport
import Testing

@Suite("A refresh whose answer is lost")
struct LostAnswerTests {
    @Test("after a lost answer the token is sent once more, and a server with a grace period accepts it")
    func grace() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.server.grantGrace()
            world.server.fail(.answerLost)
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).isOk)
            #expect(world.server.tokenRequests == 2)
            #expect(world.server.graceReuses == 1)
            #expect(world.server.reuses == 0)
            let sent = world.server.transport.attempts.filter { $0.request.url.path() == "/token" }.map(\.start)
            // Half of the backoff's first second at least.
            #expect(sent[1] - sent[0] >= .milliseconds(600))
            #expect(try await world.stored(session)?.unanswered == 0)
        }
    }

    @Test(
        "a server that falls silent is asked again within the shortest common grace of 10 s, whatever the jitter",
        arguments: 0..<20 as Range<UInt64>
    )
    func silence(seed: UInt64) async throws {
        try await SessionWorld.run(seed: seed) { world in
            let session = try await world.signedIn()
            world.server.grantGrace()
            world.server.fail(.silent)
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).isOk)
            #expect(world.server.graceReuses == 1)
            let sent = world.server.transport.attempts.filter { $0.request.url.path() == "/token" }.map(\.start)
            try #require(sent.count == 2)
            // 7 s of silence and a pause of 0.5 s to 1 s: two seconds are left for the store and a new connection.
            #expect((.milliseconds(7_500) ... .seconds(8)).contains(sent[1] - sent[0]))
        }
    }

    @Test("a server that had done nothing yet rotates at the second time")
    func nothingDone() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.server.fail(.droppedBefore)
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).isOk)
            #expect(world.server.tokenRequests == 2)
            #expect(world.server.spent == ["anna-r1"])
        }
    }

    @Test("without a grace period the session ends with the second time, and the store is empty")
    func noGrace() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.server.fail(.answerLost)
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).oauthKind == .invalidGrant)
            #expect(world.server.tokenRequests == 2)
            #expect(try await world.stored(session) == nil)
            #expect(await world.call(session).oauthKind == .invalidGrant)
            #expect(world.server.tokenRequests == 2)
        }
    }

    @Test("two lost answers end no session: the call waits out the cool-down, and the server is asked once more")
    func twice() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            world.server.fail(.droppedBefore, .droppedBefore)
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).isOk)
            #expect(world.server.tokenRequests == 3)
            #expect(try await world.stored(session)?.unanswered == 0)
        }
    }

    @Test("a call without the time for the cool-down fails for now, and the record stays with its note")
    func kept() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn(limits: SessionWorld.impatient)
            world.server.fail(.droppedBefore, .droppedBefore)
            try await world.sleep(.seconds(3600))
            let result = await world.call(session)
            #expect(result.oauthKind == .answerLost)
            #expect(result.error?.isTransient == true)
            #expect(session.isSignedIn)
            #expect(try await world.stored(session)?.unanswered == 2)
            // At once nothing is sent, here; a process that is started later asks the server.
            #expect(await world.call(session).oauthKind == .answerLost)
            #expect(world.server.tokenRequests == 2)
            #expect(await world.call(world.process()).isOk)
            #expect(world.server.tokenRequests == 3)
        }
    }

    @Test("a token that others have sent in vain is sent once after each cool-down, never twice by one refresh")
    func acrossProcesses() async throws {
        try await SessionWorld.run { world in
            let first = try await world.signedIn()
            var stored = try #require(try await world.stored(first))
            stored.unanswered = 1
            try await world.store.save(stored, for: first.key)
            world.server.fail(.droppedBefore)
            try await world.sleep(.seconds(3600))
            #expect(await world.call(world.process(limits: SessionWorld.impatient)).oauthKind == .answerLost)
            #expect(world.server.tokenRequests == 1)
            #expect(try await world.stored(first)?.unanswered == 2)
        }
    }

    @Test(
        "an answer that a gateway loses, or that breaks off, keeps the note, and one that came whole does not",
        arguments: [
            (.status(502), 1), (.status(504), 1),
            (.reply(header: [.contentType: "application/json"], text: #"{"access_token":"ann"#), 1),
            (.reply(header: [.contentType: "application/x-www-form-urlencoded"], text: "access_token=%"), 1),
            (.reply(header: [.contentType: "text/plain"], text: #"{"access_token":"ann"#), 1),
            (.reply(header: [.contentType: "text/plain;charset=utf-8"], text: "access_to"), 1),
            (.reply(text: #"{"access_token":"ann"#), 1), (.reply(text: ""), 1),
            (.reply(header: [.contentType: "text/html"], text: #" {"access_token":"ann"#), 1),
            (.reply(header: [.contentType: "text/html"], text: ""), 1),
            (.status(500), 0), (.status(503), 0), (.status(429), 0),
            (.reply(header: [.contentType: "text/html"], text: "<html>Welcome!</html>"), 0),
        ] as [(ScriptedReply, Int)]
    )
    func note(reply: ScriptedReply, unanswered: Int) async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn(limits: SessionWorld.impatient)
            world.server.fail(.answered(reply))
            try await world.sleep(.seconds(3600))
            #expect(!(await world.call(session).isOk))
            #expect(session.isSignedIn)
            #expect(try await world.stored(session)?.unanswered == unanswered)
            try await world.sleep(.seconds(60))
            #expect(await world.call(session).isOk)
        }
    }

    @Test("a refresh without a connection never ends the session, however often it is tried")
    func neverSent() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn(limits: SessionWorld.impatient)
            world.server.fail(.refused, .refused, .refused)
            try await world.sleep(.seconds(3600))
            for _ in 0..<3 {
                #expect(await world.call(session).oauthKind == .unavailable)
                #expect(try await world.stored(session)?.unanswered == 0)
                try await world.sleep(.seconds(60))
            }
            #expect(await world.call(session).isOk)
            #expect(world.server.spent == ["anna-r1"])
        }
    }

    @Test("a refresh whose answer is lost is not sent again, if the session says so")
    func never() async throws {
        try await SessionWorld.run { world in
            let sharing = CredentialSharing(lostAnswerRetries: 0)
            let session = try await world.signedIn(sharing: sharing, limits: SessionWorld.impatient)
            world.server.fail(.droppedBefore)
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).oauthKind == .answerLost)
            #expect(world.server.tokenRequests == 1)
        }
    }

    @Test("before a token is sent again the store is read again, and a credential saved elsewhere is adopted")
    func replacedMeanwhile() async throws {
        try await SessionWorld.run { world in
            let session = try await world.signedIn()
            try await world.replace(session, during: .fail(.networkConnectionLost))
            try await world.sleep(.seconds(3600))
            #expect(await world.call(session).isOk)
            #expect(world.server.tokenRequests == 1)
        }
    }

    @Test(
        "a refresh that is cancelled after its token was sent keeps the note, so that the token is sent once more at most"
    )
    func cancelledAfterSending() async throws {
        try await SessionWorld.run { world in
            let session = world.process(limits: RefreshLimits(timeLimit: .seconds(1)))
            try await session.signIn(world.server.signIn("anna", at: world.date))
            world.server.setDelay(.seconds(5))
            try await world.sleep(.seconds(3600))
            #expect(!(await world.call(session).isOk))
            try await world.sleep(.seconds(5))
            #expect(world.server.tokenRequests == 1)
            #expect(try await world.stored(session)?.unanswered == 1)
            #expect(session.isSignedIn)
        }
    }

    @Test("a refresh that is cancelled before its token is sent takes the note back")
    func cancelledBeforeSending() async throws {
        try await SessionWorld.run { world in
            let session = world.process(limits: RefreshLimits(timeLimit: .seconds(1)))
            try await session.signIn(world.server.signIn("anna", at: world.date))
            try await world.sleep(.seconds(3600))
            // The time is over while the note is being saved.
            world.store.slowSaves(to: .seconds(2))
            #expect(!(await world.call(session).isOk))
            try await world.sleep(.seconds(5))
            #expect(world.server.tokenRequests == 0)
            #expect(try await world.stored(session)?.unanswered == 0)
        }
    }
}
