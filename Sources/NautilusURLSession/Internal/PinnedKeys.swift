import Foundation
import NautilusHTTP

/// Pinned public keys, of which a server's certificate must have one (RFC 7469 §2.4).
struct PinnedKeys: Sendable {
    /// SHA-256 of the SubjectPublicKeyInfo, 32 bytes each.
    let hashes: [Data]

    /// Whether a certificate has one of the keys; false if it cannot be read.
    ///
    /// - Parameter certificate: The server's own certificate, in DER.
    func contain(keyOf certificate: Data) -> Bool {
        guard let key = Self.publicKeyInfo(of: certificate) else { return false }
        return hashes.contains(Data(Sha256.hash(key)))
    }

    /// The SubjectPublicKeyInfo of an X.509 certificate (RFC 5280 §4.1), with its tag and length; nil if there is none.
    ///
    /// The platform's frameworks return the key without its algorithm, but a pin covers both.
    static func publicKeyInfo(of certificate: Data) -> Data? {
        // Certificate ::= SEQUENCE { tbsCertificate TBSCertificate, … }
        guard let outer = DerElement(certificate), outer.tag == DerElement.sequence,
            let signed = DerElement(outer.content), signed.tag == DerElement.sequence
        else { return nil }
        // TBSCertificate ::= SEQUENCE { version [0] OPTIONAL, serialNumber, signature, issuer, validity, subject, … }
        var rest = signed.content
        guard var element = DerElement(rest) else { return nil }
        let behind = element.tag == DerElement.version ? 6 : 5
        for _ in 0..<behind {
            rest = rest.dropFirst(element.size)
            guard let next = DerElement(rest) else { return nil }
            element = next
        }
        return element.tag == DerElement.sequence ? Data(rest.prefix(element.size)) : nil
    }
}

/// The element of DER (X.690) at the beginning of some bytes.
private struct DerElement {
    static let sequence: UInt8 = 0x30
    /// The tag of a certificate's version, which is omitted in version 1.
    static let version: UInt8 = 0xA0

    let tag: UInt8
    let content: Data
    /// How many bytes the element takes, including tag and length.
    let size: Int

    /// - Returns: Nil if the element does not fit into the bytes, or its length is written in more than four bytes.
    init?(_ bytes: Data) {
        guard let tag = bytes.first, let short = bytes.dropFirst().first else { return nil }
        let digits = short < 0x80 ? 0 : Int(short & 0x7F)
        guard digits <= 4, short != 0x80, bytes.count >= 2 + digits else { return nil }
        let length = digits == 0 ? Int(short) : bytes.dropFirst(2).prefix(digits).reduce(0) { $0 << 8 | Int($1) }
        guard length <= bytes.count - 2 - digits else { return nil }
        self.tag = tag
        self.size = 2 + digits + length
        self.content = bytes.dropFirst(2 + digits).prefix(length)
    }
}
