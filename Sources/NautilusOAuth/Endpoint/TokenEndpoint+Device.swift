import Nautilus

extension TokenEndpoint {
    /// Begins a sign-in on another device (RFC 8628 §3.1): for a television, a command line, a printer.
    ///
    /// - Parameter scope: The scope to ask for. Default: nil, the server's own choice.
    /// - Throws: ``OAuthError``: ``OAuthError/Kind/noEndpoint(name:)`` when the server has none for it.
    public func authorizeDevice(scope: OAuthScope? = nil) async throws(OAuthError) -> DeviceAuthorization {
        let endpoint = try EndpointUrl(server.deviceAuthorizationEndpoint, name: "device_authorization_endpoint")
        var form = TokenForm()
        form.add(scope)
        // From before it is sent: the codes are younger than that, so none is polled with after its end.
        let age = Stopwatch(clock)
        let reply = try await send(form, to: endpoint) { body, contentType throws(MalformedReply) in
            try DeviceReply(body, contentType: contentType)
        }
        return DeviceAuthorization(
            userCode: reply.userCode,
            verificationUri: reply.verificationUri,
            verificationUriComplete: reply.verificationUriComplete,
            expiresIn: reply.expiresIn,
            interval: reply.interval,
            deviceCode: reply.deviceCode,
            scope: scope,
            age: age
        )
    }

    /// Waits until the user has approved on the other device, and returns the credential (RFC 8628 §3.4).
    ///
    /// The server is polled, first after the interval that it has named, and less often when it asks for that or does
    /// not answer. Overload and outages are waited out. Cancelling the task ends it at once.
    ///
    /// - Parameter authorization: The reply to ``authorizeDevice(scope:)``.
    /// - Throws: ``OAuthError``: ``OAuthError/Kind/accessDenied``, ``OAuthError/Kind/deviceCodeExpired``,
    ///   ``OAuthError/Kind/cancelled``, and the errors of the client and of malformed replies.
    public func credential(for authorization: DeviceAuthorization) async throws(OAuthError) -> OAuthCredential {
        var polling = DevicePolling(interval: authorization.interval)
        var pause = polling.interval
        while true {
            let remaining = authorization.expiresIn - authorization.age.elapsed
            try await sleep(for: min(pause, remaining))
            // The next poll would come too late. What one that began in time still brings is taken all the same: the
            // server has spent the code for it.
            guard pause < remaining else { throw OAuthError(.deviceCodeExpired) }
            do throws(OAuthError) {
                return try await poll(authorization)
            } catch {
                pause = try polling.pause(after: error)
            }
        }
    }

    /// Asks once. The endpoint's retrier has no part in it: it would ask earlier than the interval allows.
    private func poll(_ authorization: DeviceAuthorization) async throws(OAuthError) -> OAuthCredential {
        let form = TokenForm(
            .init("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            .init("device_code", authorization.deviceCode.text)
        )
        return try await reply(to: form, retrier: NilRetrier.factory())
            .credential(requested: authorization.scope, receivedAt: wallClock())
    }

    private func sleep(for duration: Duration) async throws(OAuthError) {
        do {
            if duration > .zero { try await clock.sleep(for: duration) }
            try Task.checkCancellation()
        } catch {
            throw OAuthError(.cancelled)
        }
    }
}
