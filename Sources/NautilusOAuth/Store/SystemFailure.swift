import Foundation

/// A system call that failed, before it is known what it means for a credential.
struct SystemFailure: Error, Hashable {
    let operation: String
    let code: Int32

    /// Reads `errno`, so it has to be the first thing after the call.
    init(_ operation: String) {
        self.init(operation, code: errno)
    }

    init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    /// What it means at `place`.
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

/// Runs `work`, with its failures told of `place`.
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
