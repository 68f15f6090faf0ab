import Foundation
import NautilusOAuth

extension NotesAccount {
    /// Explains a failure of the store to the person at the keyboard: the error knows the place's name, this its path.
    func complaint(_ error: CredentialStoreError) -> Complaint {
        let path = ShellWord(folder.path)
        switch error {
        case .notPrivate:
            return Complaint(.store, "\(path) is open to others, or not yours; run \"chmod 700 \(path)\"")
        case .damaged:
            return Complaint(.store, "the credential in \(path) is damaged; run \(command("login")) to replace it")
        case .foreign(let place):
            return Complaint(.store, "\(place) in \(path) is no credential; remove it, or choose another --store")
        case .newerFormat:
            return Complaint(.store, "a newer version of this tool has written the credential in \(path); update it")
        case .undecodable:
            return Complaint(
                .store,
                "another version of this tool has written the credential in \(path); update this one"
            )
        case .sealedOtherwise:
            return Complaint(.store, "the credential in \(path) is encrypted with another key")
        case .full:
            return Complaint(.store, "there is no room left in \(path) for the credential; make some")
        case .notDurable:
            return Complaint(
                .store,
                "the credential is in \(path), but might not survive a power failure; check the disk"
            )
        case .notPermitted:
            return Complaint(.store, "\(path) may not be read or written; check who owns it, or choose another --store")
        case .system(let operation, _, let code):
            let reason = String(cString: strerror(Int32(truncatingIfNeeded: code)))
            return Complaint(.store, "the system refuses \(operation) in \(path): \(reason)")
        case .other(let type):
            return Complaint(.store, "the credential cannot be kept in \(path) (\(type))")
        }
    }
}
