import Foundation
import Nautilus

/// The server's report of one of its limits: how many more requests it accepts, and until when.
///
/// Descriptions omit the partition's key, since how a server chooses it is its own affair.
struct RateLimit: Hashable, Sendable {
    /// The policy's name; empty for the older fields, which have none.
    var policy: String
    /// The partition of the quota that the request belongs to, as the server wrote it; nil when it names none.
    var partition: String?
    /// How many more requests the server accepts within the window; never negative.
    var remaining: Int
    /// How long until the limit is reset, counted from when the response came; nil when not given.
    var reset: Duration?
    /// How many requests a whole window allows; nil when not given, or counted in another unit.
    var quota: Int?
    /// The length of a whole window; nil when not given.
    var window: Duration?
}

extension RateLimit: Redacted {
    /// The figures, without the partition's key.
    var description: String {
        "\(remaining) of \(quota.map(String.init) ?? "?") left" + (reset.map { " for \($0.brief)" } ?? "")
    }
}

extension HttpHeader {
    /// Whether any field may say how many requests the server accepts, or when to come back. Most responses have none,
    /// so this only looks at how the names begin.
    var hasRateLimits: Bool {
        fields.contains { $0.name.rawValue.utf8.isRateLimitName }
    }

    /// The limits that the server reports, one for each policy and partition; empty when none is valid.
    ///
    /// The first of these that is present and readable counts:
    /// - `RateLimit`, with `RateLimit-Policy` for quota and window, as lists (draft-ietf-httpapi-ratelimit-headers-08
    ///   to -11).
    /// - `RateLimit` as a dictionary with `limit`, `remaining` and `reset` (drafts -04 to -07).
    /// - `RateLimit-Limit`, `-Remaining`, `-Reset` (drafts -00 to -03), then `X-RateLimit-…`, then `X-Rate-Limit-…`.
    ///
    /// A malformed field is ignored, and so are all fields of a response from a cache, which has an `Age` (draft-11 §7,
    /// §7.3). Resets beyond ``longestRetryAfter`` are cut to it.
    ///
    /// - Parameter now: The time that replaces a missing `Date`.
    func rateLimits(now: @autoclosure () -> Date = DefaultClock.date) -> [RateLimit] {
        guard hasRateLimits, !isFromCache else { return [] }
        let policies = self["RateLimit-Policy"]
        if let text = self["RateLimit"] {
            let limits = Self.items(text, policies) ?? Self.dictionary(text, policies) ?? []
            if !limits.isEmpty { return limits }
        }
        for prefix in ["RateLimit-", "X-RateLimit-", "X-Rate-Limit-"] {
            if let limit = separateFields(prefix, policies, now()) { return [limit] }
        }
        return []
    }

    /// How many limits and policies of one response are read. No server has more; each limit is kept until it resets,
    /// and is searched for among the policies, so a long header must not cost the square of its length.
    private static let maxLimits = 16

    private var isFromCache: Bool {
        self["Age"].map { RateLimitNumber($0[...]).map { $0.roundedUp > 0 } ?? false } ?? false
    }

    private static func items(_ text: String, _ policies: String?) -> [RateLimit]? {
        guard let items = StructuredField.list(text)?.prefix(maxLimits) else { return nil }
        let policies = (policies.flatMap(StructuredField.list) ?? []).prefix(maxLimits)
        return items.compactMap { item -> RateLimit? in
            guard let name = item.name, let remaining = item.count("r") else { return nil }
            let partition = item.parameters["pk"]?.text
            let policy = policies.first { $0.name == name && ($0.parameters["pk"]?.text ?? partition) == partition }
            let countsRequests = policy?.countsRequests ?? true
            // Bytes are left, for example; how many requests that allows is unknown.
            guard countsRequests || remaining == 0 else { return nil }
            return RateLimit(
                policy: name,
                partition: partition,
                remaining: remaining,
                reset: item.seconds("t"),
                quota: countsRequests ? policy?.count("q") : nil,
                window: policy?.seconds("w")
            )
        }
    }

    private static func dictionary(_ text: String, _ policies: String?) -> [RateLimit]? {
        guard let members = StructuredField.dictionary(text),
            let remaining = members["remaining"]?.value.count
        else { return nil }
        let limit = RateLimit(
            policy: "",
            remaining: remaining,
            reset: members["reset"]?.value.seconds,
            quota: members["limit"]?.value.count,
            window: window(ofQuota: members["limit"]?.value.integer, in: policies)
        )
        return [limit]
    }

    private func separateFields(_ prefix: String, _ policies: String?, _ now: Date) -> RateLimit? {
        let remaining = values(of: Name(prefix + "Remaining")).flatMap { line in
            line.utf8.split(separator: UInt8(ascii: ",")).compactMap { RateLimitNumber(Substring($0))?.roundedDown }
        }
        // Of several fields, the strictest counts, so that no request comes early.
        guard let remaining = remaining.min() else { return nil }
        let quota = self[Name(prefix + "Limit")].flatMap { RateLimitNumber($0[...]) }?.roundedDown
        let resets = values(of: Name(prefix + "Reset"))
        let sent = resets.isEmpty ? nil : ResponseTime(self, now: now)
        let reset = sent.flatMap { sent in
            resets.flatMap { JoinedValues($0, year: sent.year) }.compactMap { Self.reset($0, sent) }.max()
        }
        return RateLimit(
            policy: "",
            remaining: Int(clamping: remaining),
            reset: reset.map { min(.seconds($0), Self.longestRetryAfter) },
            quota: quota.map(Int.init(clamping:)),
            window: Self.window(ofQuota: quota, in: policies ?? self[Name(prefix + "Limit")])
        )
    }

    /// The seconds until a reset, which servers give either as seconds from now or as a moment; zero for a moment in the
    /// past.
    private static func reset(_ value: JoinedValues.Value, _ sent: ResponseTime) -> Int64? {
        let text: Substring
        switch value {
        case .date(let date): return sent.seconds(until: date)
        case .text(let number): text = number
        }
        // Rounded up, so that no request comes early.
        guard let number = RateLimitNumber(text)?.roundedUp else { return nil }
        // 10⁹ seconds would be more than 31 years: from there on, it is a moment in seconds since 1970, and from 10¹¹ on in
        // milliseconds. It is measured against the response's own `Date`, since the server's clock may be wrong.
        if number < 1_000_000_000 { return number }
        let moment = number < 100_000_000_000 ? number : number / 1_000 + (number % 1_000 > 0 ? 1 : 0)
        return max(0, moment - sent.secondsSince1970)
    }

    /// The window of the older policies, which are identified by their quota: `100;w=60`.
    private static func window(ofQuota quota: Int64?, in policies: String?) -> Duration? {
        guard let quota, let policies = policies.flatMap(StructuredField.list) else { return nil }
        return policies.first { $0.value.integer == quota && $0.parameters["w"] != nil }?.seconds("w")
    }
}

extension StructuredField.Item {
    /// The name of a policy: a string or, before draft-11, a token.
    fileprivate var name: String? {
        switch value {
        case .string(let name), .token(let name): name
        case .integer, .bytes, .other: nil
        }
    }

    fileprivate func count(_ parameter: String) -> Int? { parameters[parameter]?.count }

    fileprivate func seconds(_ parameter: String) -> Duration? { parameters[parameter]?.seconds }

    /// Whether the policy counts requests, as it does unless it names another unit.
    fileprivate var countsRequests: Bool {
        guard let unit = parameters["qu"]?.text else { return true }
        return unit == "requests" || unit == "request"
    }
}

extension StructuredField.BareItem {
    /// The item as a number of requests; nil when it is not one.
    fileprivate var count: Int? { integer.flatMap { $0 < 0 ? nil : Int(clamping: $0) } }

    /// The item as a number of seconds; nil when it is not one.
    fileprivate var seconds: Duration? {
        integer.flatMap { $0 < 0 ? nil : min(.seconds($0), HttpHeader.longestRetryAfter) }
    }
}

extension String.UTF8View {
    /// Whether a field's name begins like those that say how many requests a server accepts.
    fileprivate var isRateLimitName: Bool {
        guard count >= 9, let first else { return false }
        switch first | 0x20 {
        case UInt8(ascii: "r"): return hasPrefix("ratelimit")
        case UInt8(ascii: "x"): return hasPrefix("x-ratelimit") || hasPrefix("x-rate-limit")
        default: return false
        }
    }

    private func hasPrefix(_ prefix: String) -> Bool {
        // Setting the bit that makes a capital small leaves the hyphen unchanged.
        count >= prefix.utf8.count && zip(self, prefix.utf8).allSatisfy { $0 | 0x20 == $1 }
    }
}
