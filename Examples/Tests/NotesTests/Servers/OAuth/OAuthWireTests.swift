import DemoServers
import Foundation
import Nautilus
import NotesAPI
import Testing

@Suite("The authorization server over real sockets", .timeLimit(.minutes(10)))
struct OAuthWireTests {
    @Test("a user signs in with a code, and reads notes with what it was exchanged for")
    func authorizationCode() async throws {
        let server = try await DemoServer.start(environment: "staging")
        let wire = OAuthWire(server: server)
        let metadata = try await wire.get(.metadata)
        #expect(String(decoding: metadata.body, as: UTF8.self).contains(#""issuer":"\#(escaped(server.origin))""#))
        let redirect = try await wire.get(
            .authorize,
            [
                "response_type": "code", "client_id": "notes-app", "redirect_uri": OAuthBench.redirectUri,
                "state": "a b+c&d", "code_challenge": PkceChallenge(verifier: OAuthBench.verifier).digest,
                "code_challenge_method": "S256",
            ]
        )
        #expect(redirect.status == 302)
        #expect(redirect.redirect["state"] == "a b+c&d")
        #expect(redirect.redirect["iss"] == server.origin)
        let answer = try await wire.post(
            .token,
            [
                "grant_type": "authorization_code", "code": redirect.redirect["code"] ?? "",
                "redirect_uri": OAuthBench.redirectUri, "code_verifier": OAuthBench.verifier, "client_id": "notes-app",
            ]
        )
        #expect(answer.status == 200)
        #expect(answer.header["Cache-Control"] == "no-store")
        let environment = NotesEnvironment(server)
        let token = Token(
            accessToken: answer.reply.accessToken ?? "",
            refreshToken: answer.reply.refreshToken ?? "",
            lifetime: .zero,
            environment: environment
        )
        let notes = try NotesService.test(environment, token: token)
        #expect(try await GetNote(id: 1).schedule(with: notes).id == 1)
        let counters = await server.counters
        #expect(counters.tokenRequests == [.authorizationCode: 1, .refreshToken: 1])
        await server.stop()
    }

    @Test("a device waits, is approved on the page or by hand, and gets its tokens; another is declined")
    func devices() async throws {
        // Longer than any machine takes for two polls.
        let rules = DemoDeviceRules(lifetime: .seconds(3600), interval: .seconds(600))
        let server = try await DemoServer.start(environment: "staging", deviceRules: rules)
        let wire = OAuthWire(server: server)
        for decision in ["page", "approve", "deny"] {
            let codes = try await wire.post(.deviceAuthorization, ["client_id": "notes-app"]).reply
            let form: HttpQuery = ["grant_type": OAuthBench.device, "device_code": codes.deviceCode ?? ""]
            #expect(codes.verificationUri == server.origin + "/device")
            #expect(try await wire.post(.token, form).reply.error == "authorization_pending")
            #expect(try await wire.post(.token, form).reply.error == "slow_down")
            await server.advanceTime(by: .seconds(605))
            #expect(try await wire.post(.token, form).reply.error == "authorization_pending")
            let userCode = codes.userCode ?? ""
            switch decision {
            case "page": #expect(try await wire.get(.device, ["user_code": userCode]).status == 200)
            case "approve": #expect(await server.approve(userCode: userCode))
            default: #expect(await server.deny(userCode: userCode))
            }
            let answer = try await wire.post(.token, form)
            #expect(answer.reply.error == (decision == "deny" ? "access_denied" : nil))
            #expect((answer.reply.refreshToken == nil) == (decision == "deny"))
        }
        #expect(await server.approve(userCode: "BBBB-BBBB") == false)
        let counters = await server.counters
        #expect(counters.deviceAuthorizations == 3)
        #expect(counters.devicePolls == 12)
        #expect(counters.slowDowns == 3)
        await server.stop()
    }

    @Test("rules that change while the server runs approve devices that wait already")
    func deviceRules() async throws {
        let server = try await DemoServer.start(environment: "staging", deviceRules: .init(interval: .zero))
        let wire = OAuthWire(server: server)
        let codes = try await wire.post(.deviceAuthorization, [:]).reply
        let form: HttpQuery = ["grant_type": OAuthBench.device, "device_code": codes.deviceCode ?? ""]
        #expect(try await wire.post(.token, form).reply.error == "authorization_pending")
        #expect(try await wire.post(.token, form).reply.error == "authorization_pending")
        await server.setDeviceRules(.init(approvesAfterPolls: 2))
        #expect(try await wire.post(.token, form).status == 200)
        await server.stop()
    }

    @Test("a lost answer has spent the token: only within the grace period is there a way back")
    func lostAnswer() async throws {
        let server = try await DemoServer.start(environment: "staging", gracePeriod: .seconds(60))
        let wire = OAuthWire(server: server)
        let pair = await server.signIn()
        await server.loseAnswers(next: 1)
        let error = await #expect(throws: HttpError.self) { try await wire.refresh(pair.refreshToken) }
        #expect(error?.delivery == .maybeExecuted)
        let next = try await wire.refresh(pair.refreshToken)
        #expect(next.status == 200)
        #expect(await server.gracePeriod == .seconds(60))
        await server.setGracePeriod(.zero)
        #expect(try await wire.refresh(pair.refreshToken).reply.error == "invalid_grant")
        #expect(try await wire.refresh(next.reply.refreshToken ?? "").reply.error == "invalid_grant")
        let counters = await server.counters
        #expect(counters.answersLost == 1)
        #expect(counters.graceReuses == 1)
        #expect(counters.reuseDetected == 1)
        #expect(counters.refreshes == 4)
        #expect(counters.requests == 0)
        await server.stop()
    }

    @Test("requests are dropped and answered badly on order, and the token is good after all that")
    func faults() async throws {
        let server = try await DemoServer.start(environment: "staging")
        let wire = OAuthWire(server: server)
        let pair = await server.signIn()
        await server.dropRequests(next: 1)
        await server.failTokenEndpoint(status: 429, header: ["Retry-After": "7"])
        await server.failTokenEndpoint(status: 200, body: "<html>", next: 2)
        await server.failTokenEndpoint(status: 500, next: .max)
        await #expect(throws: HttpError.self) { try await wire.refresh(pair.refreshToken) }
        let limited = try await wire.refresh(pair.refreshToken)
        #expect(limited.status == 429)
        #expect(limited.header["Retry-After"] == "7")
        for _ in 0..<2 { #expect(try await wire.refresh(pair.refreshToken).body == Data("<html>".utf8)) }
        for _ in 0..<2 { #expect(try await wire.refresh(pair.refreshToken).status == 500) }
        await server.healTokenEndpoint()
        #expect(try await wire.refresh(pair.refreshToken).status == 200)
        let counters = await server.counters
        #expect(counters.tokenRequestsDropped == 1)
        #expect(counters.tokenRequestsFailed == 5)
        #expect(counters.refreshes == 1)
        await server.stop()
    }

    @Test("a confidential client proves itself with Basic, and is challenged when it does not")
    func basic() async throws {
        let robot = DemoClient(id: "a:robot", secret: "100% secret", grants: [.clientCredentials])
        let server = try await DemoServer.start(environment: "staging", clients: [robot])
        let wire = OAuthWire(server: server)
        let form: HttpQuery = ["grant_type": "client_credentials"]
        let good = try await wire.post(.token, form, header: [.authorization: ApiRequest.basic(robot)])
        #expect(good.status == 200)
        #expect(good.reply.refreshToken == nil)
        let bad = try await wire.post(.token, form, header: [.authorization: ApiRequest.basic("a%3Arobot", "")])
        #expect(bad.status == 401)
        #expect(bad.header["WWW-Authenticate"] == #"Basic realm="oauth""#)
        #expect(await server.counters.invalidClients == 1)
        await server.stop()
    }

    @Test("a user who signs out is signed out on the server, too")
    func revocation() async throws {
        let server = try await DemoServer.start(environment: "staging")
        let wire = OAuthWire(server: server)
        let pair = await server.signIn()
        #expect(try await wire.post(.revoke, ["token": pair.refreshToken]).status == 200)
        let notes = try NotesService.test(server, pair)
        let error = await #expect(throws: NotesError.self) { try await GetNote(id: 1).schedule(with: notes) }
        #expect(error?.reason == .signedOut)
        #expect(await server.counters.tokensRevoked == 1)
        await server.stop()
    }

    /// As JSON has it.
    private func escaped(_ text: String) -> String { text.replacing("/", with: "\\/") }
}
