/// Which part of a file a 206 brings (RFC 9110 §14.4).
struct ContentRange: Hashable {
    let first: Int64
    let last: Int64
    /// How many bytes the whole file has; nil when the server does not know.
    let total: Int64?

    /// Reads the one form that a 206 has, `bytes 5-9/10` or `bytes 5-9/*`; nil for anything else.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < .max
        else { return nil }
        let total = Self.number(parts[1])
        guard parts[1] == "*" || total.map({ $0 > last }) ?? false else { return nil }
        (self.first, self.last, self.total) = (first, last, total)
    }

    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy(\.isDigit) ? Int64(text) : nil
    }
}
