import Nautilus

extension FileStatus {
    /// Another one after each save: the file is a new one, and changed later than the one before.
    var version: CredentialVersion {
        let (inode, modified, changed) = (inode, modified, changed)
        return CredentialVersion(
            "\(inode) \(modified.tv_sec).\(modified.tv_nsec) \(changed.tv_sec).\(changed.tv_nsec) \(size)"
        )
    }
}
