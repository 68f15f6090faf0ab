extension HttpOrigin {
    /// Whether it is this machine itself, whose traffic cannot be read elsewhere: `localhost`, 127.0.0.0/8, `::1`.
    ///
    /// Other spellings of these addresses do not count: systems differ in how they read them.
    package var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy(\.isByte)
    }
}

extension Substring {
    /// Whether it is a number from 0 to 255, without leading zeros, which some systems read as octal.
    fileprivate var isByte: Bool {
        utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt8(self).map { String($0) == self } == true
    }
}
