import Foundation

// Apple's types, as far as a generic password needs them. Bridging does not exist here, so they are Swift's own.

/// A constant of the framework, or text.
package typealias CFString = String
/// Attributes and what is to be done with them.
package typealias CFDictionary = [String: Any]
/// Whatever the keychain returns.
package typealias CFTypeRef = Any
/// Bytes.
package typealias CFData = Data
/// Values in order.
package typealias CFArray = [Any]
/// A server's certificates, and how they are judged.
package final class SecTrust {}
/// A certificate.
package final class SecCertificate {}

/// The certificates of a server, its own first.
package func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { nil }

/// A certificate in DER.
package func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { CFData() }

/// How a call ended.
package typealias OSStatus = Int32
