import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("The first of several ends of a session")
struct FirstEndTests {
    /// What happens after the first end.
    enum Then: CaseIterable, Sendable { case nothing, signIn, signInAndOut, signInElsewhere, expiry, signOut }

    @Test("a session that has ended ends no other way, and that of calls without a session never ends")
    func onlyOnce() {
        let session = CallSession()
        session.finish(.superseded)
        session.finish(.signedOut)
        #expect(name(session.end) == "superseded")
        CallSession.unending.finish(.signedOut)
        #expect(CallSession.unending.end == nil)
    }

    @Test(
        "F23: every way to ask gives the error of the session's first end, whatever has happened since",
        arguments: SessionEnding.allCases,
        Then.allCases
    )
    func everywhere(ending: SessionEnding, then: Then) async throws {
        try await simulate { simulation in
            let world = OneSessionWorld(simulation, expires: true)
            let coordinator = world.coordinator
            let (session, credential) = (coordinator.session, try #require(coordinator.current))
            let authorizer = CallAuthorizer(coordinator) { _, _ in }
            let transport = ScriptedTransport(
                .delay(.seconds(5), then: .status(401)),
                .status(503, header: [.retryAfter: "30"]),
                clock: world.clock
            )
            let service = world.service(transport)
            // Its 401 comes after the end.
            async let rejected = Ping().result(with: service)
            try await transport.waitForAttempts(count: 1)
            async let waiting = Ping().result(with: service)
            try await transport.waitForAttempts(count: 2)
            try await world.clock.sleep(for: .seconds(1))

            await world.end(ending)
            switch then {
            case .nothing: break
            case .signIn: coordinator.signIn(Token(number: 7))
            case .signInAndOut:
                coordinator.signIn(Token(number: 7))
                coordinator.signOut()
            case .signInElsewhere: coordinator.adopt(.signedIn(Token(number: 7)), since: coordinator.epoch)
            case .expiry:
                coordinator.signIn(Token(number: 7))
                coordinator.adopt(.expired(RefreshError.Terminal("again")), since: coordinator.epoch)
            case .signOut: coordinator.signOut()
            }

            #expect(name(session.end) == ending.error)
            #expect(await name { try await coordinator.credential(continuing: credential) } == ending.error)
            #expect(await name { try await coordinator.refresh(rejecting: credential) } == ending.error)
            var request = HttpRequest(method: .get, url: try #require(URL(string: "https://api.example.com/")))
            #expect(await name { try authorizer.authorize(&request) } == ending.error)
            let results = await [rejected, waiting]
            // What the server had answered stays in the error, wherever the end came.
            #expect(results.map { $0.error?.response?.status } == [401, 503])
            for result in results {
                #expect(name(result.refreshError) == ending.error)
                #expect(result.error?.requiresSignIn == (ending.error != "superseded"))
                #expect(result.error?.isSuperseded == (ending.error == "superseded"))
            }
            #expect(transport.count == 2)
        }
    }

    @Test("F23: a call that waits for a refresh is told how its session has ended", arguments: SessionEnding.allCases)
    func waiting(ending: SessionEnding) async throws {
        guard ending != .expiry else { return }
        try await simulate { simulation in
            let clock = simulation.clock
            let coordinator = RefreshCoordinator(credential: Token(number: 1), clock: clock) { token in
                try await clock.sleep(for: .seconds(20))
                return token
            }
            let credential = try #require(coordinator.current)
            async let result = name { try await coordinator.refresh(rejecting: credential) }
            try await clock.sleep(for: .seconds(1))
            switch ending {
            case .signOut: coordinator.signOut()
            case .signIn: coordinator.signIn(Token(number: 2))
            case .signOutElsewhere: coordinator.adopt(.signedOut, since: coordinator.epoch)
            case .signInElsewhere: coordinator.adopt(.signedIn(Token(number: 2)), since: coordinator.epoch)
            case .expiry, .expiryElsewhere:
                coordinator.adopt(.expired(RefreshError.Terminal("over")), since: coordinator.epoch)
            }
            #expect(await result == ending.error)
            #expect(clock.now.offset == .seconds(1))
        }
    }

    @Test("F23: each end says in its description what has happened, and what to do")
    func descriptions() {
        #expect("\(RefreshError.signedOut)".contains("has signed out"))
        #expect("\(RefreshError.superseded)".contains("Somebody else has signed in"))
        #expect("\(RefreshError.sessionExpired(underlying: RefreshError.Terminal("x")))".contains("has expired"))
    }
}

/// The name of an end; nil while there is none.
private func name(_ error: RefreshError?) -> String? {
    switch error {
    case .signedOut?: "signedOut"
    case .superseded?: "superseded"
    case .sessionExpired?: "sessionExpired"
    case let other?: "\(other)"
    case nil: nil
    }
}

/// The name of the error that some work throws; nil for none.
private func name<Value>(_ work: () async throws -> Value) async -> String? {
    do {
        _ = try await work()
        return nil
    } catch {
        return name((error as? HttpError)?.underlying as? RefreshError ?? error as? RefreshError)
    }
}
