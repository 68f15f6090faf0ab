import Foundation
import Nautilus

/// A sign-in on another device that has begun (RFC 8628 §3.2): show the code and the URL to the user, and hand this
/// value to ``TokenEndpoint/credential(for:)``.
public struct DeviceAuthorization: Sendable {
    /// The code that the user types in.
    public let userCode: String
    /// The page on which the user types it in: a URL short enough to be read and typed.
    public let verificationUri: URL
    /// The same with the code in it, for a QR code; nil when the server has none.
    public let verificationUriComplete: URL?
    /// How long the codes serve, from receipt.
    public let expiresIn: Duration
    /// How long to wait between two polls. 5 s unless the server says otherwise (§3.2).
    public let interval: Duration
    /// The code to poll with.
    let deviceCode: Secret
    /// The scope that was asked for; nil for the server's own choice.
    let scope: OAuthScope?
    /// The time since receipt.
    let age: Stopwatch
}

extension DeviceAuthorization: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The page to visit, and how long the codes serve; never a code.
    public var description: String {
        "DeviceAuthorization(\(verificationUri.withoutSecrets), expires in \(expiresIn.brief))"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["authorization": description]) }
}
