/// Host and port of a base URL.
///
/// Parsed by hand, since Foundation decodes, maps and refuses hosts differently on different systems, and the host
/// decides where credentials go.
struct HttpAuthority: CustomStringConvertible {
    /// The host as it appears in a URL, with an IPv6 address in brackets.
    let host: String
    /// The port; nil when there is none.
    let port: Int?

    /// Reads `host`, `host:port` or `[address]:port`.
    ///
    /// - Throws: ``HttpRequest/Invalid/baseUrl(reason:)``.
    init(_ text: Substring) throws(HttpRequest.Invalid) {
        guard !text.isEmpty else { throw .baseUrl(reason: "it names no host") }
        guard !text.utf8.contains(UInt8(ascii: "@")) else {
            throw .baseUrl(reason: "credentials do not belong in a URL; put them into the header")
        }
        // Mapping an international name is left to the author: systems map differently, and two names that look the
        // same may be two hosts.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw .baseUrl(reason: "its host is not ASCII; write an international name as xn--…")
        }
        let hostEnd = Self.endOfHost(in: text)
        guard let host = Self.checkedHost(text[..<hostEnd]) else { throw .baseUrl(reason: "its host is malformed") }
        self.host = host
        self.port = try Self.checkedPort(text[hostEnd...])
    }

    /// `host` or `host:port`.
    var description: String {
        port.map { "\(host):\($0)" } ?? host
    }

    private static func endOfHost(in text: Substring) -> Substring.Index {
        let afterBrackets = text.utf8.lastIndex(of: UInt8(ascii: "]")) ?? text.startIndex
        return text.utf8[afterBrackets...].firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
    }

    private static func checkedHost(_ text: Substring) -> String? {
        guard text.utf8.first == UInt8(ascii: "[") else { return checkedName(text) }
        guard text.utf8.last == UInt8(ascii: "]") else { return nil }
        let literal = text.utf8.dropFirst().dropLast()
        // A zone is written after an encoded percent sign (RFC 6874).
        let address = literal.prefix { $0 != UInt8(ascii: "%") }
        let zone = literal[address.endIndex...]
        guard address.allSatisfy(\.isAddressCharacter), address.count(of: UInt8(ascii: ":")) >= 2,
            zone.isEmpty || zone.starts(with: "%25".utf8) && zone.dropFirst(3).allSatisfy(\.isUnreserved)
        else { return nil }
        return text.lowercased()
    }

    /// A name of labels with letters, digits and hyphens (RFC 1123 §2.1), and with underscores, which some names have
    /// in spite of the RFC.
    private static func checkedName(_ text: Substring) -> String? {
        // An absolute name ends in a dot (RFC 1034 §3.1).
        let name = text.utf8.last == UInt8(ascii: ".") ? text.dropLast() : text
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard name.utf8.count <= 253, labels.allSatisfy({ (1...63).contains($0.count) }),
            labels.joined().allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
        else { return nil }
        return text.lowercased()
    }

    private static func checkedPort(_ text: Substring) throws(HttpRequest.Invalid) -> Int? {
        guard !text.isEmpty else { return nil }
        let digits = text.utf8.dropFirst()
        guard (1...5).contains(digits.count), digits.allSatisfy(\.isDigit),
            let port = Int(text.dropFirst()), (1...65_535).contains(port)
        else { throw .baseUrl(reason: "its port is not a number from 1 to 65535") }
        return port
    }
}

extension UInt8 {
    /// Whether the byte occurs in IPv6 addresses, including those that end in an IPv4 address.
    fileprivate var isAddressCharacter: Bool { isHexDigit || self == UInt8(ascii: ":") || self == UInt8(ascii: ".") }
}

extension Collection where Element: Equatable {
    fileprivate func count(of element: Element) -> Int {
        reduce(0) { $0 + ($1 == element ? 1 : 0) }
    }
}
