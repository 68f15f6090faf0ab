/// The proof that the rest of a file belongs to its beginning: the value that a client puts into `If-Range` (RFC 9110
/// §13.1.5).
struct RangeValidator: Hashable, Sendable {
    /// The value of the field.
    let text: String
    /// Whether it is an entity tag, and not a date.
    let isTag: Bool

    /// The validator of a response; nil when it has none that is strong, so that its bytes cannot be continued.
    ///
    /// An entity tag is strong unless it says that it is weak. A date is strong only when it is 60 s older than the
    /// response: in the same second the file could have changed once more, and clocks differ (RFC 9110 §8.8.2.2).
    init?(_ header: HttpHeader) {
        if let tag = header["ETag"] {
            guard tag.utf8.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\"") else { return nil }
            (text, isTag) = (tag, true)
        } else {
            // Only two-digit years, which no server has written since 1994, look at the current one.
            guard let modified = header["Last-Modified"], let sent = header[.date],
                let modification = HttpDate(modified[...], year: 2000), let response = HttpDate(sent[...], year: 2000),
                response.secondsSince1970 - modification.secondsSince1970 >= 60
            else { return nil }
            (text, isTag) = (modified, false)
        }
    }

    /// Whether a 206 may bring the rest: it must not name another tag, or another date (RFC 9110 §15.3.7.3).
    func matches(_ header: HttpHeader) -> Bool {
        let named = isTag ? header["ETag"] : header["Last-Modified"]
        return named == nil || named == text
    }
}
