#if canImport(Darwin)
    import Foundation

    extension StoreFolder {
        /// Excludes a newly created folder and everything in it from backups. A credential restored on another device,
        /// or a year later, has been refreshed since, and a server takes its second use for theft.
        ///
        /// Some volumes do not support this; the folder is used all the same.
        static func excludeFromBackups(_ path: String) {
            var url = URL(fileURLWithPath: path, isDirectory: true)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            try? url.setResourceValues(values)
        }
    }

    extension StoreFile {
        /// Makes a file readable from the first unlock after a restart, whatever the app's own protection class is: not
        /// before, but from then on also while the device is locked, so that background work can refresh. The items of
        /// `KeychainStore` are protected in the same way.
        ///
        /// Volumes without encryption do not support this; the file is used all the same.
        static func protect(_ path: String) {
            try? FileManager.default.setAttributes(
                [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
                ofItemAtPath: path
            )
        }
    }
#endif
