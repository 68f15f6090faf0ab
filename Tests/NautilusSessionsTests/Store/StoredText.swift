import Foundation
import NautilusSessions

/// Stored credentials as literal text, their digests made by another program.
enum StoredText {
    static let key = CredentialKey(issuer: "https://as.example/", client: "notes", account: "anna")
    static let stored = StoredCredential(
        session: UUID(
            uuid: (0xD9, 0xEE, 0xA5, 0x14, 0x7B, 0x66, 0x47, 0x5A, 0xB3, 0x17, 0xD8, 0x92, 0xF0, 0x5D, 0xA9, 0x85)
        ),
        number: 3,
        content: Data(#"{"token":"access"}"#.utf8),
        unanswered: 2
    )

    /// Version 1, of ``key`` and ``stored``.
    static let current = #"""
        {"format":"nautilus-credential","version":1,\#
        "key":{"account":"anna","client":"notes","issuer":"https://as.example/"},\#
        "record":{"credential":"eyJ0b2tlbiI6ImFjY2VzcyJ9","number":3,\#
        "session":"D9EEA514-7B66-475A-B317-D892F05DA985","unanswered":2},\#
        "digest":"e8b88272244e59983e11cecf9ae85c08fdc3d63f5151ced56b29282c181b78a0"}
        """#

    /// Version 7, of which only the head and the digest are known.
    static let newer = #"""
        {"format":"nautilus-credential","version":7,"keys":[],"sealed":"in another way",\#
        "digest":"6cdf8a6f01bc69058f5f1c992d191c2bf9b22fef9d15a700d8268f1897b0d0e5"}
        """#
}
