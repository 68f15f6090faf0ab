import Foundation
import Nautilus

/// A sign-in on another device that has begun (RFC 8628 §3.2). Show the code and the URL to the user, and hand this
/// value to ``TokenEndpoint/credential(for:)``.
public struct DeviceAuthorization: Sendable {
    /// The code that the user types in.
    public let userCode: String
    /// The page on which the user types the code in: a URL short enough to be read and typed.
    public let verificationUri: URL
    /// The same URL with the code in it, for a QR code; nil when the server has none that can be shown.
    public let verificationUriComplete: URL?
    /// How long the codes are valid, counted from receipt.
    public let expiresIn: Duration
    /// How long to wait between two polls: 5 s unless the server says otherwise (§3.2).
    public let interval: Duration
    /// The code to poll with.
    let deviceCode: Secret
    /// The scope that was asked for; nil for the server's own choice.
    let scope: OAuthScope?
    /// More parameters of the polls.
    let parameters: [TokenForm.Field]
    /// The time since receipt.
    let age: Stopwatch
}

extension DeviceAuthorization: Redacted {
    /// The page to visit, and how long the codes are valid; never a code.
    public var description: String {
        "DeviceAuthorization(\(verificationUri.withoutSecrets), expires in \(expiresIn.brief))"
    }
}

extension TokenEndpoint {
    /// Begins a sign-in on another device (RFC 8628 §3.1), for a television, a command line or a printer.
    ///
    /// - Parameters:
    ///   - scope: The scope to ask for. Default: nil, the server's own choice.
    ///   - parameters: More parameters of this request and of the polls, in addition to the client's. Default: none.
    /// - Throws: ``OAuthError``: ``OAuthError/Kind/noEndpoint(name:)`` when the server has no endpoint for it.
    public func authorizeDevice(
        scope: OAuthScope? = nil,
        parameters: HttpQuery = [:]
    ) async throws(OAuthError) -> DeviceAuthorization {
        let endpoint = try EndpointUrl(server.deviceAuthorizationEndpoint, name: "device_authorization_endpoint")
        var form = TokenForm()
        form.add(scope)
        let parameters = TokenForm.fields(of: parameters)
        try form.add(client, parameters)
        // Started before sending: the codes are younger than this, so none is polled with after its end.
        let age = Stopwatch(clock)
        return try await send(form, to: endpoint) { response throws(MalformedReply) in
            let contentType = response.header.values(of: .contentType).first
            return try DeviceAuthorization(response.body, contentType, scope: scope, parameters: parameters, age: age)
        }
    }

    /// Waits until the user has approved on the other device, and returns the credential (RFC 8628 §3.4).
    ///
    /// Polls the server, first after the interval that it has named, and less often when it asks for that or does not
    /// answer. Waits out overload and outages. Cancelling the task ends it at once.
    ///
    /// - Parameter authorization: The reply to ``authorizeDevice(scope:parameters:)``.
    /// - Throws: ``OAuthError``: ``OAuthError/Kind/accessDenied``, ``OAuthError/Kind/deviceCodeExpired``,
    ///   ``OAuthError/Kind/cancelled``, and the errors of the client and of malformed replies.
    public func credential(for authorization: DeviceAuthorization) async throws(OAuthError) -> OAuthCredential {
        var polling = DevicePolling(interval: authorization.interval)
        var pause = polling.interval
        while true {
            let remaining = authorization.expiresIn - authorization.age.elapsed
            try await sleep(for: min(pause, remaining))
            // The next poll would come too late. The result of a poll that began in time is accepted even if it arrives
            // late, since the server has spent the code for it.
            guard pause < remaining else { throw OAuthError(.deviceCodeExpired) }
            do throws(OAuthError) {
                return try await poll(authorization)
            } catch {
                pause = try polling.pause(after: error)
            }
        }
    }

    /// Polls once, without the endpoint's retrier, which would ask again earlier than the interval allows.
    private func poll(_ authorization: DeviceAuthorization) async throws(OAuthError) -> OAuthCredential {
        var form = TokenForm(
            .init("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            .init("device_code", authorization.deviceCode.text)
        )
        try form.add(client, authorization.parameters)
        return try await reply(to: form, retrier: .never)
            .completed(requested: authorization.scope, receivedAt: wallClock())
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

/// How long to wait before the next poll for a device's credential (RFC 8628 §3.5); a value that needs no clock.
struct DevicePolling: Sendable {
    /// The present time between two polls.
    private(set) var interval: Duration

    /// Says how long to wait after a poll that has failed.
    ///
    /// The four error codes of §3.5 count whatever the status: servers send them with 400, and also with 200, 403, 428
    /// and 429. With another status, any other code counts as it does for every token request.
    ///
    /// - Throws: `error` itself, when polling again cannot help.
    mutating func pause(after error: OAuthError) throws(OAuthError) -> Duration {
        switch (error.code, error.kind) {
        case ("authorization_pending", _):
            break
        case ("slow_down", _):
            // For this pause and all that follow.
            interval = (interval + .seconds(5)).clampedToCentury
        case ("access_denied", _):
            throw error.replacingKind(.accessDenied)
        case ("expired_token", _):
            throw error.replacingKind(.deviceCodeExpired)
        case (_, .answerLost):
            // A silent server has to be asked less often; the RFC recommends doubling the interval each time.
            interval = (interval * 2).clampedToCentury
        case (_, .unavailable):
            // The server has answered, or nothing has reached it: waiting for the interval is enough.
            break
        default:
            throw error
        }
        // Some servers name the new interval. None brings a poll forward.
        interval = max(interval, error.interval ?? .zero)
        // Meant for the next poll alone.
        return max(interval, error.retryAfter ?? .zero)
    }
}

extension OAuthError {
    /// The same error of another kind.
    fileprivate func replacingKind(_ kind: Kind) -> OAuthError {
        var error = self
        error.kind = kind
        return error
    }
}

extension DeviceAuthorization {
    /// Reads the reply of a device authorization endpoint (RFC 8628 §3.2).
    ///
    /// - Throws: ``MalformedReply``, also when the codes name no end, since polling has to stop at some time.
    init(
        _ body: Data,
        _ contentType: String?,
        scope: OAuthScope?,
        parameters: [TokenForm.Field],
        age: Stopwatch
    ) throws(MalformedReply) {
        let fields = try ReplyFields(body, contentType: contentType)
        deviceCode = Secret(try fields.requiredToken("device_code"))
        userCode = try fields.requiredToken("user_code")
        // The name in the drafts, which large servers have kept.
        let draftUri = try fields.text("verification_url")
        let uri = try fields.text("verification_uri")
        guard let uri = uri ?? draftUri else { throw MalformedReply("verification_uri is missing") }
        guard let url = Self.page(uri) else { throw MalformedReply("verification_uri is no https URL") }
        verificationUri = url
        verificationUriComplete = try fields.text("verification_uri_complete").flatMap(Self.page)
        guard let expiresIn = fields.seconds("expires_in") else {
            throw MalformedReply("expires_in is no number of seconds")
        }
        self.expiresIn = expiresIn
        interval = fields.seconds("interval") ?? .seconds(5)
        (self.scope, self.parameters, self.age) = (scope, parameters, age)
    }

    /// A page that a user can be sent to, because nothing on the way can replace it.
    private static func page(_ text: String) -> URL? {
        guard let url = URL(string: text), let origin = HttpOrigin(url),
            origin.scheme == "https" || origin.scheme == "http" && origin.isLoopback
        else { return nil }
        return url
    }
}
