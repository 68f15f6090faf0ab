/// `POST /oauth/device_authorization` (RFC 8628 §3.1 and §3.2).
enum DeviceAuthorizationRoute {
    private struct Reply: Encodable {
        let deviceCode: String
        let userCode: String
        let verificationUri: String
        let verificationUriComplete: String
        let expiresIn: Int64
        let interval: Int64
    }

    static func answer(
        _ request: ClientRequest,
        on server: inout AuthorizationServer,
        counters: inout ServerCounters
    ) throws(OAuthFailure) -> ApiAnswer {
        try request.requireGrant(.deviceCode)
        let scope = try request.form.requestedScope
        counters.deviceAuthorizations += 1
        let codes = server.devices.authorize(client: request.client.id, scope: scope, at: request.now)
        let page = server.origin + OAuthEndpoint.device.path
        let reply = Reply(
            deviceCode: codes.deviceCode,
            userCode: codes.userCode,
            verificationUri: page,
            verificationUriComplete: page + "?" + FormParameters.encode(["user_code": codes.userCode]),
            expiresIn: codes.lifetime.components.seconds,
            interval: codes.interval.roundedUpToSeconds
        )
        return .json(200, reply)
    }
}

extension Duration {
    /// The wire knows whole seconds alone, and a device that waits too short a time is slowed down.
    fileprivate var roundedUpToSeconds: Int64 {
        components.seconds + (components.attoseconds > 0 ? 1 : 0)
    }
}
