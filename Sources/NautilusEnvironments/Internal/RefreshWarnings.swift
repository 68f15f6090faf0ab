import Foundation
import Nautilus

/// Warns of a refresh that goes through a service with a selection, once for each type of service.
///
/// Only calls in a debug build use it; a release build gives no warnings.
final class RefreshWarnings: Sendable {
    /// The warnings of the process, on its standard error.
    static let shared = RefreshWarnings { FileHandle.standardError.write(Data("Nautilus: \($0)\n".utf8)) }

    /// The types of services through which a refresh has gone.
    private let seen = Locked<Set<ObjectIdentifier>>([])
    private let write: @Sendable (String) -> Void

    init(write: @escaping @Sendable (String) -> Void) {
        self.write = write
    }

    /// Warns if a call through a service of this type is part of a refresh, unless it has warned of the type before.
    func check(_ service: Any.Type, isPartOfRefresh: Bool) {
        guard isPartOfRefresh, seen.withLock({ $0.insert(ObjectIdentifier(service)).inserted }) else { return }
        write(
            """
            a refresh goes through \(service), and so to whatever is selected by then, with a credential that may be of \
            another environment: have it go through the environment's own service
            """
        )
    }

    /// Whether it has warned of a type of service.
    func hasWarned(of service: Any.Type) -> Bool { seen.withLock { $0.contains(ObjectIdentifier(service)) } }
}
