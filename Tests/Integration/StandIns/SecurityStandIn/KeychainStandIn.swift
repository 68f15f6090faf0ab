import Foundation

/// A keychain in memory: what `SecItem…` finds, adds, changes and removes, by the rules of the data protection keychain.
///
/// It takes only what it knows, and answers anything else with `errSecParam`: a query that Apple's might read in another
/// way must not pass here.
package final class KeychainStandIn: @unchecked Sendable {
    // Unchecked: what changes is only touched with `lock` held.
    private let lock = NSLock()
    private var items: [Identity: Item] = [:]  // guarded by lock
    private var refusals: [String: (operation: Operation?, status: OSStatus)] = [:]  // guarded by lock
    private var reads: [String: Int] = [:]  // guarded by lock

    /// The one keychain of the process.
    package static let shared = KeychainStandIn()

    /// The access groups that the app is entitled to; the first is its own.
    package static let accessGroups = ["notes", "group.notes"]

    /// The operations that can be refused.
    package enum Operation: Sendable {
        case add, find, update, delete
    }

    /// The attributes that tell one item from another.
    private struct Identity: Hashable {
        let group: String
        let service: String
        let account: String
    }

    private struct Item {
        var data: Data
        var generic: Data?
        var label: String?
        let accessible: String
        var modified: Date
    }

    // --- For tests ---

    /// Refuses what is asked about a service.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - status: With which answer; nil ends it.
    ///   - operation: The operation that is refused. Default: nil, everything.
    package func refuse(_ service: String, with status: OSStatus?, only operation: Operation? = nil) {
        lock.withLock { refusals[service] = status.map { (operation, $0) } }
    }

    /// Puts bytes in the place of an item's, or adds one, as another app of the same group would.
    package func plant(_ data: Data, service: String, account: String, group: String = accessGroups[0]) {
        lock.withLock {
            let identity = Identity(group: group, service: service, account: account)
            items[identity] = Item(data: data, generic: nil, accessible: "ck", modified: Self.now())
        }
    }

    /// An item's bytes and when they may be read; nil when there is no such item.
    package func item(service: String, account: String, group: String) -> (data: Data, accessible: String)? {
        lock.withLock {
            items[Identity(group: group, service: service, account: account)].map { ($0.data, $0.accessible) }
        }
    }

    /// How often the bytes of a service's items were decrypted.
    package func reads(of service: String) -> Int {
        lock.withLock { reads[service, default: 0] }
    }

    // --- For SecItem… ---

    func add(_ attributes: CFDictionary) -> OSStatus {
        let known = Self.itemKeys + [kSecValueData, kSecAttrGeneric, kSecAttrAccessible]
        return answer(attributes, known, .add) { service, account, group in
            let group = group ?? Self.accessGroups[0]
            let identity = Identity(group: group, service: service, account: account)
            guard items[identity] == nil else { return errSecDuplicateItem }
            guard let accessible = attributes[kSecAttrAccessible] as? String else { return errSecParam }
            items[identity] = Item(
                // An item may be there for its name alone.
                data: attributes[kSecValueData] as? Data ?? Data(),
                generic: attributes[kSecAttrGeneric] as? Data,
                label: attributes[kSecAttrLabel] as? String,
                accessible: accessible,
                modified: Self.now()
            )
            return errSecSuccess
        }
    }

    func find(_ query: CFDictionary) -> (OSStatus, Any?) {
        if query[kSecMatchLimit] as? String == kSecMatchLimitAll { return findAll(query) }
        let known = Self.itemKeys + [kSecMatchLimit, kSecReturnData, kSecReturnAttributes]
        var found: Any?
        let status = answer(query, known, .find) { service, account, group in
            // One is the default.
            guard query[kSecMatchLimit] as? String ?? kSecMatchLimitOne == kSecMatchLimitOne else { return errSecParam }
            guard let identity = identity(service, account, group), let item = items[identity] else {
                return errSecItemNotFound
            }
            switch (query[kSecReturnData] as? Bool, query[kSecReturnAttributes] as? Bool) {
            case (true?, nil):
                reads[service, default: 0] += 1
                found = item.data
            case (nil, true?):
                var attributes: [String: Any] = [
                    kSecAttrService: service, kSecAttrAccount: account, kSecAttrModificationDate: item.modified,
                ]
                attributes[kSecAttrGeneric] = item.generic
                found = attributes
            // Asked whether it is there, and for nothing of it.
            case (nil, nil): break
            default: return errSecParam
            }
            return errSecSuccess
        }
        return (status, found)
    }

    /// The attributes of all items of a service that have a label, whichever their account.
    private func findAll(_ query: CFDictionary) -> (OSStatus, Any?) {
        guard let label = query[kSecAttrLabel] as? String, query[kSecAttrAccount] == nil,
            query[kSecReturnAttributes] as? Bool == true
        else { return (errSecParam, nil) }
        var found: [[String: Any]] = []
        let known = Self.itemKeys + [kSecMatchLimit, kSecReturnAttributes]
        let status = answer(query.merging([kSecAttrAccount: ""]) { $1 }, known, .find) { service, _, group in
            let groups = group.map { [$0] } ?? Self.accessGroups
            found = items.filter {
                groups.contains($0.key.group) && $0.key.service == service && $0.value.label == label
            }.map { [kSecAttrService: service, kSecAttrAccount: $0.key.account] }
            return found.isEmpty ? errSecItemNotFound : errSecSuccess
        }
        return (status, status == errSecSuccess ? found : nil)
    }

    func update(_ query: CFDictionary, _ changes: CFDictionary) -> OSStatus {
        answer(query, Self.itemKeys, .update) { service, account, group in
            guard Set(changes.keys).isSubset(of: [kSecValueData, kSecAttrGeneric]) else { return errSecParam }
            guard let identity = identity(service, account, group) else { return errSecItemNotFound }
            if let data = changes[kSecValueData] as? Data { items[identity]?.data = data }
            if let generic = changes[kSecAttrGeneric] as? Data { items[identity]?.generic = generic }
            items[identity]?.modified = Self.now()
            return errSecSuccess
        }
    }

    func delete(_ query: CFDictionary) -> OSStatus {
        if query[kSecAttrAccount] == nil { return deleteAll(query) }
        return answer(query, Self.itemKeys, .delete) { service, account, group in
            guard let identity = identity(service, account, group) else { return errSecItemNotFound }
            items[identity] = nil
            return errSecSuccess
        }
    }

    /// Removes all items of a service that have a label, whichever their account.
    private func deleteAll(_ query: CFDictionary) -> OSStatus {
        guard let label = query[kSecAttrLabel] as? String else { return errSecParam }
        return answer(query.merging([kSecAttrAccount: ""]) { $1 }, Self.itemKeys, .delete) { service, _, group in
            let groups = group.map { [$0] } ?? Self.accessGroups
            let found = items.filter {
                groups.contains($0.key.group) && $0.key.service == service && $0.value.label == label
            }
            for identity in found.keys { items[identity] = nil }
            return found.isEmpty ? errSecItemNotFound : errSecSuccess
        }
    }

    private static let itemKeys = [
        kSecClass, kSecAttrService, kSecAttrAccount, kSecAttrAccessGroup, kSecAttrLabel, kSecUseDataProtectionKeychain,
    ]

    /// Answers a well-formed query about one item that the app may ask for.
    private func answer(
        _ query: CFDictionary,
        _ known: [String],
        _ operation: Operation,
        _ body: (_ service: String, _ account: String, _ group: String?) -> OSStatus
    ) -> OSStatus {
        guard Set(query.keys).isSubset(of: known), query[kSecClass] as? String == kSecClassGenericPassword,
            query[kSecUseDataProtectionKeychain] as? Bool == true,
            let service = query[kSecAttrService] as? String, let account = query[kSecAttrAccount] as? String
        else { return errSecParam }
        let group = query[kSecAttrAccessGroup] as? String
        if let group, !Self.accessGroups.contains(group) { return errSecMissingEntitlement }
        return lock.withLock {
            if let refusal = refusals[service], refusal.operation ?? operation == operation { return refusal.status }
            return body(service, account, group)
        }
    }

    /// The first item in the groups that are asked for: one, or all of the app's.
    private func identity(_ service: String, _ account: String, _ group: String?) -> Identity? {
        let groups = group.map { [$0] } ?? Self.accessGroups
        return groups.map { Identity(group: $0, service: service, account: account) }.first { items[$0] != nil }
    }

    /// In whole seconds: no more is promised.
    private static func now() -> Date {
        Date(timeIntervalSinceReferenceDate: Date().timeIntervalSinceReferenceDate.rounded(.down))
    }
}
