import Foundation
import Nautilus

extension SystemFailure {
    /// The store error that it means at `place`.
    func at(_ place: String) -> CredentialStoreError {
        switch code {
        case ENOSPC, EDQUOT: .full(place: place)
        case EACCES, EPERM, EROFS: .notPermitted(place: place)
        // A symbolic link where a file of ours would be.
        case ELOOP: .foreign(place: place)
        default: .system(operation: operation, place: place, code: Int(code))
        }
    }
}

/// Runs `work`, and adds `place` to its failures.
func at<Result>(
    _ place: String,
    _ work: () throws(SystemFailure) -> Result
) throws(CredentialStoreError) -> Result {
    do {
        return try work()
    } catch {
        throw error.at(place)
    }
}
