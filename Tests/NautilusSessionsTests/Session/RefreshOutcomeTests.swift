import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import Testing

@Suite("RefreshOutcome")
struct RefreshOutcomeTests {
    private struct AppError: Error {}

    /// The failure of a refresh that the server answers in this way.
    private static func failure(_ reply: ScriptedReply, retrier: any RetrierFactory) async -> RefreshOutcome? {
        let service = AnyHttpService(
            apiUrl: "api.test",
            retrierFactory: retrier,
            transport: ScriptedTransport { _, _ in reply }
        )
        do throws(HttpError) {
            _ = try await SendToken(token: ApiToken(value: "a", expires: .now)).schedule(with: service)
            return nil
        } catch {
            return RefreshOutcome(error)
        }
    }

    @Test(
        "only a 401 ends a session; what may have been refreshed is not taken for unspent",
        arguments: [
            (.status(401), .ended), (.status(400), .notRefreshed), (.status(403), .notRefreshed),
            (.status(429), .notRefreshed), (.status(500), .notRefreshed), (.status(503), .notRefreshed),
            (.status(502), .unclear), (.status(504), .unclear),
            (.status(401, header: [.wwwAuthenticate: #"Bearer error="insufficient_scope""#]), .notRefreshed),
            (.reply(body: Data([0xFF])), .unclear),
            (.fail(.networkConnectionLost), .answerLost),
            (.fail(.cannotConnectToHost, delivery: .notSent), .notRefreshed),
            (.fail(.timedOut), .answerLost),
        ] as [(ScriptedReply, RefreshOutcome)]
    )
    func answers(reply: ScriptedReply, failure: RefreshOutcome) async {
        #expect(await Self.failure(reply, retrier: .never) == failure)
    }

    @Test("answers with statuses that the rules name end the session, and no others")
    func namedStatuses() {
        func failure(_ status: Int) -> RefreshOutcome {
            RefreshOutcome(HttpError(.status(status), stage: .validate, delivery: .rejected), endedBy: [400, 403])
        }
        #expect([400, 403, 404, 502].map(failure) == [.ended, .ended, .notRefreshed, .unclear])
        #expect(RefreshOutcome(RefreshError.Terminal("over"), endedBy: []) == .ended)
    }

    @Test(
        "a status of those to whom a redirect has led does not end it",
        arguments: ["https://pages.test/maintenance", "https://api.test/login"]
    )
    func statusOfOthers(location: String) async {
        let service = AnyHttpService<HttpError>(
            apiUrl: "api.test",
            retrierFactory: .never,
            transport: ScriptedTransport { request, _ in
                request.url.path == "/token" ? .status(303, header: [.location: location]) : .status(403)
            }
        )
        do throws(HttpError) {
            _ = try await AnyRequest(.post, ["token"], as: String.self).schedule(with: service)
            Issue.record("it did not fail")
        } catch {
            #expect(error.kind == .status(403))
            #expect(RefreshOutcome(error, endedBy: [403]) == .notRefreshed)
        }
    }

    /// A service whose calls fail with its own error.
    private struct OwnErrors: HttpService {
        let base: AnyHttpService<HttpError>
        var apiUrl: any UrlConvertible { base.apiUrl }
        var transport: any HttpTransport { base.transport }
        var clock: any Clock<Duration> { base.clock }

        func mapError(_ error: HttpError) -> AppError { AppError() }
    }

    @Test("a service's own error ends the session only if classify says so", arguments: [false, true])
    func ownError(ends: Bool) async throws {
        try await TokenWorld.run { world in
            let service = OwnErrors(base: world.api)
            let rules = SessionRules<ApiToken>(
                authorize: { token, request in request.header["X-Api-Token"] = token.value },
                classify: { ends && $0 is AppError ? .ended : RefreshOutcome($0) },
                refresh: { token in
                    ApiToken(value: try await SendToken(token: token).schedule(with: service), expires: .distantFuture)
                }
            )
            let session = try await world.signedIn("anna", rules)
            world.server.endSessions()
            let refreshError = await world.call(session).refreshError
            #expect(session.isSignedIn == !ends)
            guard case .sessionExpired(let cause) = refreshError else { return #expect(!ends) }
            #expect((cause as? RefreshError.Terminal)?.underlying is AppError)
        }
    }

    @Test("of the errors that are no call's, only a terminal one ends a session")
    func others() {
        #expect(RefreshOutcome(RefreshError.Terminal("over")) == .ended)
        #expect(RefreshOutcome(AppError()) == .unclear)
        #expect(RefreshOutcome(CancellationError()) == .unclear)
        #expect(RefreshOutcome(HttpError(.cancelled, stage: .send, delivery: .maybeExecuted)) == .unclear)
        #expect(RefreshOutcome(HttpError(.cancelled, stage: .prepare, delivery: .notSent)) == .notRefreshed)
    }
}
