import Foundation
import Nautilus

/// The account whose answers belong together.
struct CachePartition: Hashable, Sendable {
    /// Nil for answers that belong to no account.
    let account: String?

    /// Names the partition without showing the account.
    var digest: String {
        let text = account.map { "account \($0)" } ?? "nobody"
        return String(Sha256.hash(text.precomposedStringWithCanonicalMapping.utf8).hexadecimal.prefix(32))
    }
}

extension CachePartition: CustomStringConvertible, CustomReflectable {
    /// Whether there is an account, not which.
    var description: String { account == nil ? "nobody's" : "an account's" }

    /// Shows the description.
    var customMirror: Mirror { Mirror(self, children: ["partition": description]) }
}
