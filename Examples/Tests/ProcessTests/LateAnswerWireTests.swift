import DemoServers
import Nautilus
import NautilusOAuth
import NautilusURLSession
import Testing

@Suite("A refresh whose answer comes after the end of its session, over real sockets", .timeLimit(.minutes(10)))
struct LateAnswerWireTests {
    /// The transports of the framework.
    enum Transport: CaseIterable, Sendable {
        /// The default: libcurl's on Linux.
        case platform
        case urlSession

        var transport: any HttpTransport {
            switch self {
            case .platform: .platform
            case .urlSession: URLSessionTransport.shared
            }
        }
    }

    /// How the session ends.
    enum End: CaseIterable, Sendable {
        case signOut, signOutNow, signOutNowAndFlush
        case revokingSignIn, revokingSlowSignIn, signInAndOut
    }

    @Test(
        "F22: the server has no refresh token of a session that ended while the answer of its refresh was on its way",
        arguments: Transport.allCases,
        End.allCases
    )
    func rotated(by transport: Transport, end: End) async throws {
        let answer = Barrier()
        let server = try await DemoServer.start(environment: "staging", barriers: .init(rotated: answer))
        // What is named by nobody stays alive.
        await server.setRevokesOnlyNamed(true)
        let session = Self.session(server, transport)
        let first = await server.signInExpired()
        try await session.signIn(OAuthCredential(first))
        let credential = Task { try await session.credential() }
        // The server has rotated, and nothing of its answer is sent before the barrier opens.
        await answer.waitForArrivals(1)
        let rotated = await server.liveRefreshTokens
        #expect(rotated.count == 1 && !rotated.contains(first.refreshToken))
        let next = OAuthCredential(await server.signIn())
        // In most cases nobody uses it.
        var kept: Set<String> = [try #require(next.refreshToken)]
        switch end {
        case .signOut:
            async let signOut: Void = session.signOut()
            try await Self.expect(.signedOut, of: credential)
            await answer.open()
            try await signOut
        case .signOutNow, .signOutNowAndFlush:
            let rest = session.signOutNow()
            #expect(!session.isSignedIn)
            try await Self.expect(.signedOut, of: credential)
            await answer.open()
            if end == .signOutNow { try await rest.finish() } else { try await session.flush() }
        case .revokingSignIn:
            try await session.signIn(next, revokingReplaced: true)
            try await Self.expect(.superseded, of: credential)
            await answer.open()
            try await session.flush()
        case .revokingSlowSignIn:
            try await session.signIn(revokingReplaced: true) { next }
            try await Self.expect(.superseded, of: credential)
            await answer.open()
            try await session.flush()
        case .signInAndOut:
            try await session.signIn(next)
            try await Self.expect(.superseded, of: credential)
            await answer.open()
            // The late answer is kept for the next sign-out.
            try await session.flush()
            #expect(await server.liveRefreshTokens.count == 2)
            try await session.signOut()
            kept = []
        }
        #expect(await server.liveRefreshTokens == kept)
        #expect(await server.counters.refreshes == 1)
        await server.stop()
    }

    private static func session(_ server: DemoServer, _ transport: Transport) -> OAuthSession {
        let endpoint = TokenEndpoint(
            server: AuthorizationServer(
                issuer: server.origin,
                tokenEndpoint: "\(server.origin)/oauth/token",
                revocationEndpoint: "\(server.origin)/oauth/revoke"
            ),
            client: OAuthClient(id: DemoClient.app.id),
            transport: transport.transport,
            retrierFactory: .never,
            // Longer than the test takes on a busy machine.
            refreshTimeout: .seconds(300),
            deadline: .seconds(300)
        )
        return OAuthSession(endpoint: endpoint, limits: RefreshLimits(timeLimit: .seconds(300)))
    }

    /// The call ends though the answer of its refresh is still on its way.
    private static func expect(
        _ end: RefreshError,
        of credential: Task<OAuthSession.VersionedCredential, any Error>
    ) async throws {
        let error = await #expect(throws: RefreshError.self) { try await credential.value }
        #expect(error.map { "\($0)" } == "\(end)")
    }
}

extension OAuthCredential {
    fileprivate init(_ tokens: TokenPair) {
        self.init(accessToken: tokens.accessToken, refreshToken: tokens.refreshToken, lifetime: tokens.lifetime)
    }
}
