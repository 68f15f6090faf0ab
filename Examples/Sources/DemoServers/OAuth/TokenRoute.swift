/// `POST /oauth/token`: each grant answers for itself, in a file of its own.
enum TokenRoute {
    static func answer(
        _ request: ClientRequest,
        on server: inout AuthorizationServer,
        counters: inout ServerCounters
    ) throws(OAuthFailure) -> ApiAnswer {
        guard let grant = DemoGrant(rawValue: try request.form.required("grant_type")) else {
            throw OAuthFailure(.unsupportedGrantType, "the metadata lists the grants")
        }
        try request.requireGrant(grant)
        counters.tokenRequests[grant, default: 0] += 1
        let reply =
            switch grant {
            case .authorizationCode: try exchangeCode(request, on: &server, counters: &counters)
            case .clientCredentials: try trustClient(request, on: &server)
            case .deviceCode: try pollDevice(request, on: &server, counters: &counters)
            case .refreshToken: try refresh(request, on: &server, counters: &counters)
            }
        return .json(200, reply)
    }
}
