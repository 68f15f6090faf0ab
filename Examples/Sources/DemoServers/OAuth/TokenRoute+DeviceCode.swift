extension TokenRoute {
    /// RFC 8628 §3.4 and §3.5.
    static func pollDevice(
        _ request: ClientRequest,
        on server: inout AuthorizationServer,
        counters: inout ServerCounters
    ) throws(OAuthFailure) -> TokenReply {
        let deviceCode = try request.form.required("device_code")
        counters.devicePolls += 1
        switch server.devices.poll(deviceCode, client: request.client.id, at: request.now) {
        case .approved(let scope):
            return TokenReply(server.tokens.signIn(at: request.now, client: request.client.id, scope: scope))
        case .pending:
            throw OAuthFailure(.authorizationPending, "the user has not decided yet")
        case .slowDown:
            counters.slowDowns += 1
            throw OAuthFailure(.slowDown, "poll 5 seconds less often from now on")
        case .denied:
            throw OAuthFailure(.accessDenied, "the user declined")
        case .expired:
            throw OAuthFailure(.expiredToken, "the device code has expired")
        case .unknown:
            throw OAuthFailure(.invalidGrant, "the device code is not good, or not this client's")
        }
    }
}
