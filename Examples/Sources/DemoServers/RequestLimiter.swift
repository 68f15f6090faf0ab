import Foundation

/// Applies a ``RequestLimit`` to each client, and tells each what is left: pure transitions, time comes in.
package struct RequestLimiter: Sendable {
    /// The decision on a request, and the fields of its answer.
    package struct Verdict: Hashable, Sendable {
        /// Whether it is served.
        package var isTaken: Bool
        /// How long it waits before it is.
        package var delay: Duration
        package var header: [String: String]
    }

    private let limit: RequestLimit
    private var buckets: [String: LeakyBucket] = [:]

    package init(_ limit: RequestLimit) {
        self.limit = limit
    }

    /// How many clients are remembered.
    package var clientCount: Int { buckets.count }

    /// A request comes.
    ///
    /// - Parameters:
    ///   - client: The client whose bucket it fills; empty for unnamed clients, which share one.
    ///   - now: The time, from any zero that stays the same.
    package mutating func ask(_ client: String, at now: Duration) -> Verdict {
        // An empty bucket is as good as none.
        if buckets[client] == nil { buckets = buckets.filter { $0.value.untilEmpty(at: now) > .zero } }
        var bucket = buckets[client] ?? LeakyBucket(limit)
        let ahead = bucket.take(at: now)
        buckets[client] = bucket
        var header = fields(of: bucket, client: client, at: now)
        if ahead == nil { header["Retry-After"] = "\(bucket.untilEmpty(at: now).wholeSeconds)" }
        return Verdict(isTaken: ahead != nil, delay: limit.isDelaying ? ahead ?? .zero : .zero, header: header)
    }

    /// The fields of draft-ietf-httpapi-ratelimit-headers-11.
    ///
    /// The reset is when the whole quota is there again, and not when the next request fits: a client that follows it may send
    /// all of the quota then. In whole seconds, rounded up, since the draft has no others.
    private func fields(of bucket: LeakyBucket, client: String, at now: Duration) -> [String: String] {
        let partition = client.isEmpty ? "" : ";pk=:\(Data(client.utf8).base64EncodedString()):"
        let window = (limit.interval * limit.quota).wholeSeconds
        let (left, reset) = (bucket.remaining(at: now), bucket.untilEmpty(at: now).wholeSeconds)
        return [
            "RateLimit-Policy": #""requests";q=\#(limit.quota);w=\#(window)\#(partition)"#,
            "RateLimit": #""requests";r=\#(left);t=\#(reset)\#(partition)"#,
        ]
    }
}

extension Duration {
    /// In seconds, rounded up.
    fileprivate var wholeSeconds: Int64 {
        components.seconds + (components.attoseconds > 0 ? 1 : 0)
    }
}
