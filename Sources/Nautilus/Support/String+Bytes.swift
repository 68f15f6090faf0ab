extension String {
    /// Whether all of its bytes satisfy `predicate`.
    ///
    /// Reads them in place: every byte of every header is looked at.
    func hasOnly(_ predicate: (UInt8) -> Bool) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy(predicate) } ?? utf8.allSatisfy(predicate)
    }

    /// Whether both are the same bytes, which strings that are equal in Unicode's eyes need not be.
    func hasSameBytes(as other: String) -> Bool {
        let isSame = utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { bytes.count == $0.count && bytes.elementsEqual($0) }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}

extension StringProtocol where SubSequence == Substring {
    /// The text without the spaces and tabs around it (RFC 9110 §5.6.3).
    ///
    /// By bytes: from its end, Unicode's characters can only be found in a time that grows with their square.
    package var trimmingBlanks: Substring {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        let bytes = self[...].utf8
        guard let last = bytes.lastIndex(where: { !isBlank($0) }) else { return "" }
        return Substring(bytes[...last].drop(while: isBlank))
    }
}
