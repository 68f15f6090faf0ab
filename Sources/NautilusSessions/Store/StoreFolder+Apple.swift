#if canImport(Darwin)
    import Foundation

    extension StoreFolder {
        /// Keeps a folder that was just created, and all that comes into it, out of backups: a credential that is restored on
        /// another device, or a year later, has been renewed since, and a server takes its second use for theft.
        ///
        /// Some volumes know no such thing, and then the folder is used all the same.
        static func excludeFromBackups(_ path: String) {
            var url = URL(fileURLWithPath: path, isDirectory: true)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try? url.setResourceValues(values)
        }
    }

    extension StoreFile {
        /// Makes a file readable from the first unlock after a restart, whatever the app's own class is: not before, and then
        /// also while the device is locked, so that work in the background can renew. As the items of `KeychainStore` are.
        ///
        /// Volumes without encryption have no such thing, and then the file is used all the same.
        static func protect(_ path: String) {
            try? FileManager.default.setAttributes(
                [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
                ofItemAtPath: path
            )
        }
    }
#endif
