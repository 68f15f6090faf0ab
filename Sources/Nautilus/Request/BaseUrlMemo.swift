/// The base URLs that this process calls, each checked once instead of once for every attempt.
///
/// Checking depends on nothing but the text, so an entry can be forgotten but never be wrong.
final class BaseUrlMemo: Sendable {
    static let shared = BaseUrlMemo()

    /// More than the services of any app; a base made anew for every call must not fill the memory.
    static let limit = 32

    private struct Key: Hashable {
        let text: String
        let isSecure: Bool

        /// Compares bytes: texts that Unicode calls equivalent differ on the wire.
        static func == (left: Key, right: Key) -> Bool {
            left.isSecure == right.isSecure && left.text.hasSameBytes(as: right.text)
        }
    }

    private let known = Locked<[Key: BaseUrl]>([:])

    /// The checked base.
    ///
    /// - Throws: ``InvalidRequest/baseUrl(reason:)``, as ``BaseUrl/init(_:isSecure:)`` does; failures are not kept.
    func base(_ convertible: any UrlConvertible, isSecure: Bool) throws(InvalidRequest) -> BaseUrl {
        let key = Key(text: convertible.urlString, isSecure: isSecure)
        if let base = known.withLock({ $0[key] }) { return base }
        let base = try BaseUrl(key.text, isSecure: isSecure)
        known.withLock { known in
            if known.count >= Self.limit { known = [:] }
            known[key] = base
        }
        return base
    }

    /// How many are known now.
    var count: Int { known.withLock { $0.count } }
}
