#if canImport(Security)
    import Foundation
    import Nautilus
    import Security

    /// Keeps credentials in the keychain of Apple's platforms, one generic password each.
    ///
    /// The items are readable from the first unlock after a restart, so that background work can refresh, and never
    /// leave the device: not in a backup, not through iCloud. On macOS, too, the store uses the data protection
    /// keychain, which requires a signed app with an application identifier or a keychain access group among its
    /// entitlements.
    ///
    /// ```swift
    /// let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.notes")
    /// let store = container.map { KeychainStore(lockFolder: $0.appendingPathComponent("Locks"), accessGroup: "group.notes") }
    /// ```
    /// A foreign record, or one of a newer format, is neither replaced nor removed; a damaged one is.
    public final class KeychainStore: CredentialStore {
        private let accessGroup: String?
        private let locks: LockFolder
        /// The keychain runs in another process, which may take its time; this queue waits, so that Swift's few threads
        /// never do.
        private let queue = BlockingQueue(label: "nautilus.keychain-store")

        /// Keeps credentials in the keychain, and locks in a folder, since the keychain has no locks.
        ///
        /// - Parameters:
        ///   - lockFolder: Created if missing. For an app and its extensions, use a separate folder in the container of
        ///     their app group; see ``LockFolder``.
        ///   - accessGroup: The keychain access group or app group that shares the credentials. Default: nil, the app's
        ///     first access group.
        public init(lockFolder: URL, accessGroup: String? = nil) {
            locks = LockFolder(lockFolder)
            self.accessGroup = accessGroup
        }

        /// True.
        public var showsLatest: Bool { true }

        /// Loads the stored record; nil when there is none.
        ///
        /// - Throws: ``CredentialStoreError``.
        public func load(_ key: CredentialKey) async throws(CredentialStoreError) -> StoredCredential? {
            try await queue.run { () throws(CredentialStoreError) in
                while let mark = try self.mark(key, "load"), let stored = try self.stored(key) {
                    if try self.isEnded(stored.session, key) { return nil }
                    // A delete in between has removed the note of the session's end along with the item.
                    if try self.mark(key, "load") == mark { return stored }
                }
                return nil
            }
        }

        /// Ends a session by adding an item with its name. Such items are part of the ``version(of:)``, so every
        /// process that shares the keychain learns of the end in the same moment.
        ///
        /// - Returns: The stored record of the session; nil when there was none, or it cannot be read.
        /// - Throws: ``CredentialStoreError``.
        @discardableResult
        public func end(
            _ session: UUID,
            for key: CredentialKey
        ) async throws(CredentialStoreError) -> StoredCredential? {
            try await queue.run { () throws(CredentialStoreError) in
                var added = self.end(of: session, key)
                added[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
                let status = SecItemAdd(added as CFDictionary, nil)
                if status != errSecDuplicateItem { try Self.check(status, "end", key) }
                guard let stored = try? self.stored(key), stored.session == session else { return nil }
                return stored
            }
        }

        /// Whether there is an item with the session's name.
        ///
        /// - Throws: ``CredentialStoreError``.
        public func isEnded(_ session: UUID, for key: CredentialKey) async throws(CredentialStoreError) -> Bool {
            try await queue.run { () throws(CredentialStoreError) in try self.isEnded(session, key) }
        }

        /// Replaces the stored record.
        ///
        /// - Throws: ``CredentialStoreError``; the previous record is still there then.
        public func save(_ stored: StoredCredential, for key: CredentialKey) async throws(CredentialStoreError) {
            try await queue.run { () throws(CredentialStoreError) in
                let data = try CredentialFormat.encode(stored, for: key, place: Self.service(of: key))
                try self.checkReplaceable(key)
                // The modification date alone may be too coarse to tell one save from the next.
                let mark = Data(UUID.random().uuidString.utf8)
                let content: [String: Any] = [kSecValueData as String: data, kSecAttrGeneric as String: mark]
                var status = SecItemUpdate(self.item(key) as CFDictionary, content as CFDictionary)
                if status == errSecItemNotFound {
                    var added = self.item(key).merging(content) { $1 }
                    added[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
                    status = SecItemAdd(added as CFDictionary, nil)
                }
                try Self.check(status, "save", key)
            }
        }

        /// Removes what is stored, and the notes of ended sessions; does nothing when nothing is stored.
        ///
        /// - Throws: ``CredentialStoreError``.
        public func delete(_ key: CredentialKey) async throws(CredentialStoreError) {
            try await queue.run { () throws(CredentialStoreError) in
                try self.checkReplaceable(key)
                let status = SecItemDelete(self.item(key) as CFDictionary)
                if status != errSecItemNotFound { try Self.check(status, "delete", key) }
                // A note that stays does no harm: its session never comes back.
                _ = SecItemDelete(self.end(of: nil, key) as CFDictionary)
            }
        }

        /// A mark made of the item's attributes and the number of ended sessions; no content is decrypted.
        ///
        /// - Returns: Nil when nothing is stored.
        /// - Throws: ``CredentialStoreError``.
        public func version(of key: CredentialKey) async throws(CredentialStoreError) -> CredentialVersion? {
            try await queue.run { () throws(CredentialStoreError) in
                guard let mark = try self.mark(key, "version") else { return nil }
                let ends = try self.endCount(key)
                return mark.with(ends > 0 ? "ended \(ends)" : nil)
            }
        }

        /// Takes the key's lock if it is free, and does not wait.
        ///
        /// - Returns: The lock; nil while another holder has it, in this process or in another.
        /// - Throws: ``CredentialStoreError`` about the folder of the locks.
        public func lock(_ key: CredentialKey) throws(CredentialStoreError) -> (any CredentialLock)? {
            try locks.lock(key)
        }

        private func mark(_ key: CredentialKey, _ operation: String) throws(CredentialStoreError) -> CredentialVersion?
        {
            guard let found = try find(key, kSecReturnAttributes as String, operation) else { return nil }
            let attributes = found as? [String: Any]
            let date = attributes?[kSecAttrModificationDate as String] as? Date
            let mark = attributes?[kSecAttrGeneric as String] as? Data
            let time = date?.timeIntervalSinceReferenceDate ?? 0
            return CredentialVersion("\(time) \(String(decoding: mark ?? Data(), as: UTF8.self))")
        }

        private func stored(_ key: CredentialKey) throws(CredentialStoreError) -> StoredCredential? {
            guard let found = try find(key, kSecReturnData as String, "load") else { return nil }
            let place = Self.service(of: key)
            guard let data = found as? Data else { throw .damaged(place: place) }
            return try CredentialFormat.decode(data, for: key, place: place)
        }

        /// The item whose presence says that a session of the key has been ended.
        private func end(of session: UUID?, _ key: CredentialKey) -> [String: Any] {
            var item = item(key)
            item[kSecAttrService as String] = Self.service(of: key) + " ended"
            item[kSecAttrAccount as String] = session.map { "\($0) \(key.account)" }
            item[kSecAttrLabel as String] = key.account
            return item
        }

        private func isEnded(_ session: UUID, _ key: CredentialKey) throws(CredentialStoreError) -> Bool {
            let status = SecItemCopyMatching(end(of: session, key) as CFDictionary, nil)
            guard status != errSecItemNotFound else { return false }
            try Self.check(status, "load", key)
            return true
        }

        private func endCount(_ key: CredentialKey) throws(CredentialStoreError) -> Int {
            var query = end(of: nil, key)
            query[kSecReturnAttributes as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitAll
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            guard status != errSecItemNotFound else { return 0 }
            try Self.check(status, "version", key)
            return (found as? [Any])?.count ?? 0
        }

        private func checkReplaceable(_ key: CredentialKey) throws(CredentialStoreError) {
            do {
                _ = try stored(key)
            } catch .damaged {
                // A save or delete repairs a damaged record.
            }
        }

        /// The value that the keychain returns for the key's item; nil when there is no such item.
        private func find(_ key: CredentialKey, _ wanted: String, _ operation: String) throws(CredentialStoreError)
            -> Any?
        {
            var query = item(key)
            query[wanted] = true
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            guard status != errSecItemNotFound else { return nil }
            try Self.check(status, operation, key)
            return found
        }

        private func item(_ key: CredentialKey) -> [String: Any] {
            var item: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: Self.service(of: key),
                kSecAttrAccount as String: key.account,
                kSecUseDataProtectionKeychain as String: true,
            ]
            item[kSecAttrAccessGroup as String] = accessGroup
            return item
        }

        /// The service name. It differs between issuers and clients, since a URL contains no blank.
        private static func service(of key: CredentialKey) -> String { "\(key.issuer) \(key.client)" }

        private static func check(
            _ status: OSStatus,
            _ operation: String,
            _ key: CredentialKey
        ) throws(CredentialStoreError) {
            let place = service(of: key)
            switch status {
            case errSecSuccess: return
            case errSecDecode: throw .damaged(place: place)
            case errSecDiskFull: throw .full(place: place)
            // The device has not been unlocked since it started, or the app lacks an entitlement.
            case errSecInteractionNotAllowed, errSecAuthFailed, errSecMissingEntitlement, errSecNotAvailable:
                throw .notPermitted(place: place)
            default: throw .system(operation: operation, place: place, code: Int(status))
            }
        }
    }
#endif
