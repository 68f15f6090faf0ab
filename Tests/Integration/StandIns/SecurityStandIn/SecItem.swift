/// Adds an item.
package func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    KeychainStandIn.shared.add(attributes)
}

/// Finds an item.
package func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    let (status, found) = KeychainStandIn.shared.find(query)
    if status == errSecSuccess { result?.pointee = found }
    return status
}

/// Changes an item.
package func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    KeychainStandIn.shared.update(query, attributesToUpdate)
}

/// Removes an item.
package func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    KeychainStandIn.shared.delete(query)
}
