import Nautilus

extension TokenEndpoint {
    /// Begins a sign-in on another device (RFC 8628 §3.1).
    ///
    /// - Parameter scope: What to ask for. Default: nil, what the server gives by itself.
    /// - Throws: ``OAuthError``.
    public func authorizeDevice(scope: OAuthScope? = nil) async throws(OAuthError) -> DeviceAuthorization {
        throw OAuthError(.noEndpoint(name: "device_authorization_endpoint"))
    }

    /// Waits until the user has approved on the other device, and returns the credential (RFC 8628 §3.4).
    ///
    /// - Parameter authorization: What ``authorizeDevice(scope:)`` has brought.
    /// - Throws: ``OAuthError``.
    public func credential(for authorization: DeviceAuthorization) async throws(OAuthError) -> OAuthCredential {
        throw OAuthError(.deviceCodeExpired)
    }
}
