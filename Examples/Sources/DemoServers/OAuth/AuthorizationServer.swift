/// The authorization server of one environment, without sockets: what it remembers, and where its requests go.
package struct AuthorizationServer: Sendable {
    /// Scheme, host and port. It is the issuer, too.
    package var origin = ""
    package var tokens: TokenAuthority
    package var codes: CodeAuthority
    package var devices: DeviceAuthority
    package var faults = TokenFaults()
    private let clients: [String: DemoClient]

    /// - Parameter clients: The known ones besides ``DemoClient/app`` and ``DemoClient/service``; one with the id of
    ///   these takes its place.
    package init(tokens: TokenAuthority, codes: CodeAuthority, devices: DeviceAuthority, clients: [DemoClient] = []) {
        self.tokens = tokens
        self.codes = codes
        self.devices = devices
        let known = [.app, .service] + clients
        self.clients = Dictionary(known.map { ($0.id, $0) }) { $1 }
    }

    /// Answers a request.
    ///
    /// - Returns: Nil when the connection is to close without an answer.
    package mutating func answer(
        _ request: ApiRequest,
        at endpoint: OAuthEndpoint,
        now: Duration,
        counters: inout ServerCounters
    ) -> ApiAnswer? {
        guard request.method == endpoint.method else { return .methodNotAllowed(allowing: endpoint.method) }
        switch endpoint {
        case .authorize: return AuthorizationRoute.answer(request, clients: clients, on: &self, at: now)
        case .device: return DevicePage.answer(request, on: &self, at: now)
        case .metadata: return .json(200, ServerMetadata(origin: origin))
        case .token: return answerWithFaults(request, now: now, counters: &counters)
        case .deviceAuthorization:
            return answerForm(request, now: now, counters: &counters, DeviceAuthorizationRoute.answer)
        case .revoke: return answerForm(request, now: now, counters: &counters, RevocationRoute.answer)
        }
    }

    private mutating func answerWithFaults(
        _ request: ApiRequest,
        now: Duration,
        counters: inout ServerCounters
    ) -> ApiAnswer? {
        let fault = faults.next()
        switch fault {
        case .requestDropped:
            counters.tokenRequestsDropped += 1
            return nil
        case .answer(let answer):
            counters.tokenRequestsFailed += 1
            return answer
        case .answerLost, nil:
            break
        }
        let answer = answerForm(request, now: now, counters: &counters, TokenRoute.answer)
        guard fault == nil else {
            counters.answersLost += 1
            return nil
        }
        return answer
    }

    /// The common part of every form: which client posts it, the form of a refusal, and that no cache keeps the answer.
    private mutating func answerForm(
        _ request: ApiRequest,
        now: Duration,
        counters: inout ServerCounters,
        _ route: (ClientRequest, inout AuthorizationServer, inout ServerCounters) throws(OAuthFailure) -> ApiAnswer
    ) -> ApiAnswer {
        var answer: ApiAnswer
        do throws(OAuthFailure) {
            answer = try route(ClientRequest(request, clients: clients, at: now), &self, &counters)
        } catch {
            if error.code == .invalidClient { counters.invalidClients += 1 }
            answer = error.answer
        }
        // RFC 6749 §5.1.
        answer.header.merge(["Cache-Control": "no-store", "Pragma": "no-cache"]) { $1 }
        return answer
    }
}

extension AuthorizationServer: Redacted {}
