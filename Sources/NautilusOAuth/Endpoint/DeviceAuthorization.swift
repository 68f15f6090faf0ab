import Foundation
import Nautilus

/// A sign-in on another device that has begun (RFC 8628 §3.2): show the code and the URL to the user, and hand this value
/// to ``TokenEndpoint/credential(for:)``.
public struct DeviceAuthorization: Sendable {
    /// What the user types in.
    public let userCode: String
    /// Where the user types it in: short enough to be read and typed.
    public let verificationUri: URL
    /// The same with the code in it, for a QR code; nil when the server has none.
    public let verificationUriComplete: URL?
    /// How long the codes serve, from receipt.
    public let expiresIn: Duration
    /// How long to wait between two polls. 5 s unless the server says otherwise (§3.2).
    public let interval: Duration
    /// What is polled with.
    let deviceCode: Secret
    /// What was asked for; nil for what the server gives by itself.
    let scope: OAuthScope?
    /// The time since receipt.
    let age: Stopwatch
}

extension DeviceAuthorization: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Where the user goes, and for how long the codes serve; never a code.
    public var description: String {
        "DeviceAuthorization(\(verificationUri.withoutSecrets), expires in \(expiresIn.brief))"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["authorization": description]) }
}
