/// How often libcurl was allowed to write a request, and what has become of that.
struct CurlAdmissions: Sendable {
    /// As often as libcurl repeats a request by itself.
    private static let mostRepeats = 5

    private(set) var count = 0
    /// How often the server has refused the request. A refused request was not executed (RFC 9113 §8.7).
    private var refusals = 0

    /// Whether libcurl was allowed to write the request.
    var isAny: Bool { count > 0 }

    /// Whether libcurl was allowed to write the request and it was not refused, so that it may have been executed.
    var mayBeExecuted: Bool { count > refusals }

    /// Whether the request may be written once more, as far as their number goes. Some versions of libcurl repeat
    /// without end what a server wants over HTTP/1.1.
    var leavesRepeats: Bool { count <= Self.mostRepeats }

    /// Notes that libcurl may write the request.
    mutating func admit() {
        count += 1
    }

    /// Notes that the server has refused the request.
    ///
    /// - Parameter isAnswered: Whether a part of an answer has arrived. A server that has begun to answer a request has
    ///   begun to execute it.
    mutating func refuse(isAnswered: Bool) {
        guard !isAnswered else { return }
        guard refusals < count else { return }
        refusals += 1
    }
}

/// How far an exchange over HTTP/2 has got, as libcurl's trace tells it.
struct Http2Progress: Equatable, Sendable {
    /// Whether the exchange is traced. If not, the others are false.
    let isTraced: Bool
    /// Whether all of the request was written.
    let isSent: Bool
    /// Whether the server has ended its answer.
    let isEnded: Bool

    /// Whether the answer has ended, and a part of the request is left, which the server may never let through. libcurl
    /// would wait for that.
    var isOverdue: Bool {
        guard isTraced, isEnded else { return false }
        return !isSent
    }

    /// Whether an answer of unknown length that libcurl calls complete has not ended. libcurl takes a stream that is
    /// reset without an error for one that has ended.
    var lacksEnd: Bool { isTraced && !isEnded }
}

/// How many exchanges there may be with a server at once.
struct CurlLimits: Sendable {
    /// The most connections.
    let connections: Int
    /// The most exchanges over HTTP/2.
    let streams: Int

    /// How many exchanges a server that speaks HTTP/2 gets.
    ///
    /// - Parameter count: As many as the server takes; nil for any number.
    func exchanges(toldOf count: Int?) -> Int { min(count ?? streams, streams) }
}
