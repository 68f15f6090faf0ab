import Foundation
import Nautilus

/// A ``FleetServer`` at work, which decides about each request when it arrives.
///
/// Requests are served first come, first served, and a later request never displaces one in the queue. So it is known
/// on arrival when a request will be served, and the queue needs no events of its own.
struct ServerModel: Sendable {
    /// The fate of a request.
    enum Outcome: Hashable, Sendable {
        /// A worker serves it. The version is that of its path afterwards; nil when the server has no versions.
        case served(version: Int?)
        /// A worker finds that the path's version differs from the one the request names.
        case conflict(version: Int)
        /// A worker fails at it.
        case failed
        /// The request is turned away without any work.
        case refused(status: Int, retryAfter: Int?)
        /// The request gets no answer.
        case lost(URLError.Code, Delivery)
    }

    /// The fate of a request, and when its answer leaves the server.
    struct Verdict: Hashable, Sendable {
        let time: Duration
        let outcome: Outcome
    }

    private let server: FleetServer
    private let random: any RandomSource
    private let slowdowns: [FleetOutage]
    private let crashes: [FleetOutage]
    private var pool: WorkerPool?
    private var waiting = ServerQueue()
    private var expiring = ServerQueue()
    private var limit = FleetRateLimit.State()
    private var versions: [String: Int] = [:]
    private var lastArrival = Duration.zero

    init(_ server: FleetServer, random: any RandomSource) {
        self.server = server
        self.random = random
        let outages = server.outages.sorted { $0.start < $1.start }
        self.slowdowns = outages.filter { $0.speed != nil }
        self.crashes = outages.filter { $0.kind == .unreachable && $0.start < $0.end }
        self.pool = server.workers.map(WorkerPool.init)
    }

    /// Takes the next request. Times never run backwards.
    ///
    /// - Parameter work: How long a worker takes for the request.
    mutating func arrival(of request: HttpRequest, at time: Duration, work: Duration) -> Verdict {
        forgetWhatCrashed(before: time)
        if let refusal = refusal(at: time) { return Verdict(time: time, outcome: refusal) }

        let start = max(time, pool?.nextFree ?? time)
        if start > time {
            // The queue is full.
            if let queueLimit = server.queueLimit, waiting.count(at: time) + expiring.count(at: time) >= queueLimit {
                return Verdict(time: time, outcome: .refused(status: 503, retryAfter: nil))
            }
            // The request's slot would come too late.
            if let timeout = server.queueTimeout, start - time > timeout {
                expiring.join(until: time + timeout)
                return survivingCrashes(time, time + timeout, .refused(status: 503, retryAfter: nil))
            }
            waiting.join(until: start)
        }
        let end = end(of: work, from: start)
        pool?.occupy(until: end)
        guard crash(in: time..<end) == nil else { return survivingCrashes(time, end, .served(version: nil)) }
        return Verdict(time: end, outcome: outcome(of: request))
    }

    // MARK: - Before the queue

    /// Why the request is turned away on arrival; nil when it is not.
    private mutating func refusal(at time: Duration) -> Outcome? {
        for outage in server.outages where outage.contains(time) {
            switch outage.kind {
            case .unreachable:
                return .lost(.cannotConnectToHost, .notSent)
            case .failing(let status, let share) where share >= 1 || random.nextFraction() < share:
                return .refused(status: status, retryAfter: nil)
            case .failing, .stalled, .slowed:
                continue
            }
        }
        guard let seconds = server.rateLimit.flatMap({ limit.refusal(at: time, by: $0) }) else { return nil }
        return .refused(status: 429, retryAfter: seconds)
    }

    // MARK: - At work

    /// When a worker that begins at `start` is done, taking outages into account.
    private func end(of work: Duration, from start: Duration) -> Duration {
        var (time, left) = (start, work)
        for outage in slowdowns where outage.end > time {
            let untilOutage = max(.zero, outage.start - time)
            if left <= untilOutage { break }
            left -= untilOutage
            time = max(time, outage.start)
            let speed = outage.speed ?? 1
            let done = (outage.end - time) * speed
            if left <= done { return time + left / speed }
            left -= done
            time = outage.end
        }
        return time + left
    }

    /// The outcome of a worker's work. Requests are served in the order of arrival, so versions can be changed on
    /// arrival.
    private mutating func outcome(of request: HttpRequest) -> Outcome {
        if server.failureRate > 0, random.nextFraction() < server.failureRate { return .failed }
        guard server.hasVersions else { return .served(version: nil) }
        let path = request.url.path
        let version = versions[path, default: 0]
        if request.method.isSafe { return .served(version: version) }
        if let expected = request.header["If-Match"], expected != "\"\(version)\"", expected != "*" {
            return .conflict(version: version)
        }
        versions[path] = version + 1
        return .served(version: version + 1)
    }

    // MARK: - Crashes

    private func crash(in times: Range<Duration>) -> FleetOutage? {
        crashes.first { times.contains($0.start) }
    }

    /// The outcome at `end`, unless the server becomes unreachable before then.
    private func survivingCrashes(_ time: Duration, _ end: Duration, _ outcome: Outcome) -> Verdict {
        guard let crash = crash(in: time..<end) else { return Verdict(time: end, outcome: outcome) }
        return Verdict(time: crash.start, outcome: .lost(.networkConnectionLost, .maybeExecuted))
    }

    /// Empties the queue if the server has become unreachable since the previous request.
    private mutating func forgetWhatCrashed(before time: Duration) {
        defer { lastArrival = time }
        guard crashes.contains(where: { lastArrival < $0.start && $0.start <= time }) else { return }
        pool?.reset(at: time)
        waiting.clear()
        expiring.clear()
    }
}

/// The requests that wait for a worker, stored as the times at which they leave, in the order of arrival.
struct ServerQueue: Sendable {
    private var leaving: [Duration] = []
    private var head = 0

    /// How many requests are still waiting.
    mutating func count(at time: Duration) -> Int {
        while head < leaving.count, leaving[head] <= time { head += 1 }
        // Entries that have left are removed once they are more than half, which costs one move each.
        if head * 2 > leaving.count {
            leaving.removeFirst(head)
            head = 0
        }
        return leaving.count - head
    }

    mutating func join(until time: Duration) {
        leaving.append(time)
    }

    mutating func clear() {
        leaving = []
        head = 0
    }
}

/// The times at which a server's workers are free again, the earliest first.
struct WorkerPool: Sendable {
    private var free = DeadlineHeap()

    init(count: Int) { self.init(count: count, freeAt: .zero) }

    private init(count: Int, freeAt time: Duration) {
        for worker in 0..<max(count, 1) { free.insert(worker, at: time) }
    }

    /// When the first worker is free.
    var nextFree: Duration { free.first?.deadline ?? .zero }

    /// Occupies that worker until `end`.
    mutating func occupy(until end: Duration) {
        guard let first = free.first else { return }
        free.removeFirst()
        free.insert(first.id, at: end)
    }

    /// Frees all workers.
    mutating func reset(at time: Duration) { self = WorkerPool(count: free.count, freeAt: time) }
}
