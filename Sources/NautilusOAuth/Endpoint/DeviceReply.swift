import Foundation
import Nautilus

/// The reply of a device authorization endpoint (RFC 8628 §3.2).
struct DeviceReply: Sendable {
    /// The interval where the server names none (§3.2).
    static let defaultInterval = Duration.seconds(5)

    let deviceCode: Secret
    let userCode: String
    let verificationUri: URL
    /// Nil when there is none, or none that can be shown: the user has the other one to type in.
    let verificationUriComplete: URL?
    let expiresIn: Duration
    let interval: Duration

    /// Reads a reply.
    ///
    /// - Throws: ``MalformedReply``, also when the codes have no end, up to which to poll.
    init(_ body: Data, contentType: String?) throws(MalformedReply) {
        let fields = try ReplyFields(body, contentType: contentType)
        deviceCode = Secret(try fields.requiredText("device_code"))
        userCode = try fields.requiredText("user_code")
        // The drafts' name, which large servers have kept.
        let draftUri = try fields.text("verification_url")
        let uri = try fields.text("verification_uri")
        guard let uri = uri ?? draftUri else { throw MalformedReply("verification_uri is missing") }
        guard let url = Self.page(uri) else { throw MalformedReply("verification_uri is no https URL") }
        verificationUri = url
        let complete = try fields.text("verification_uri_complete")
        verificationUriComplete = complete.flatMap(Self.page)
        guard let expiresIn = fields.seconds("expires_in") else {
            throw MalformedReply("expires_in is no number of seconds")
        }
        self.expiresIn = expiresIn
        interval = fields.seconds("interval") ?? Self.defaultInterval
    }

    /// A page that a user can be sent to: one that nothing on the way can replace.
    private static func page(_ text: String) -> URL? {
        guard let url = URL(string: text), let origin = HttpOrigin(url),
            origin.scheme == "https" || origin.scheme == "http" && origin.isLoopback
        else { return nil }
        return url
    }
}
