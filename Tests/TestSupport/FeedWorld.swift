import Foundation
import Nautilus
import NautilusHTTP
import NautilusStreams
import NautilusTesting

/// A server of events that is down for a while, and the services that read them, in virtual time.
///
/// Event 1 exists from the first second on, event 2 from the next, also while the server is down. Behind
/// `Last-Event-ID` it repeats what was missed.
package final class FeedServer: HttpTransport {
    /// What a client gets that asks while the server is down.
    package enum Trouble: CaseIterable, Sendable {
        case refused, silent, hungUp, overloaded, busy, unknown, tooMany, tooEarly, timedOut, unauthorized
    }

    private let clock: ManualClock
    private let outage: Range<Duration>
    private let trouble: Trouble
    /// What each connection begins with.
    private let preamble: String
    private let asked = Locked<[(at: Duration, lastEventId: String?)]>([])

    package init(
        _ clock: ManualClock,
        downIn outage: Range<Duration>,
        _ trouble: Trouble = .refused,
        preamble: String = ""
    ) {
        (self.clock, self.outage, self.trouble, self.preamble) = (clock, outage, trouble, preamble)
    }

    /// When it was asked.
    package var starts: [Duration] { asked.withLock { $0.map(\.at) } }
    package var lastEventIds: [String?] { asked.withLock { $0.map(\.lastEventId) } }

    package func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        throw TransportError(.unsupportedURL)
    }

    package func stream(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<HttpBodyStream>
    {
        let (now, last) = (clock.now.offset, request.header[.lastEventId])
        asked.withLock { $0.append((now, last)) }
        if outage.contains(now) { return try await answerWhileDown() }
        let (next, begin) = (Locked((last.flatMap { Int($0) } ?? 0) + 1), Locked<String?>(preamble))
        let end = now < outage.lowerBound ? outage.lowerBound : nil
        let body = HttpBodyStream { [clock] in
            let number = next.withLock { number in
                defer { number += 1 }
                return number
            }
            let time = Duration.seconds(number)
            if time > clock.now.offset { try await clock.sleep(for: min(time, end ?? time) - clock.now.offset) }
            if let end, clock.now.offset >= end { throw TransportError(.networkConnectionLost) }
            let preamble = begin.withLock { $0.take() } ?? ""
            return Data("\(preamble)id: \(number)\ndata: \(number)\n\n".utf8)
        }
        return HttpResponse(status: 200, header: Self.header, body: body)
    }

    private func answerWhileDown() async throws -> HttpResponse<HttpBodyStream> {
        if trouble == .refused { throw TransportError(.cannotConnectToHost) }
        if trouble == .silent { try await clock.sleep(for: .seconds(1_000_000)) }
        let status =
            switch trouble {
            case .refused, .silent, .hungUp: 200
            case .overloaded: 503
            case .busy: 500
            case .unknown: 520
            case .tooMany: 429
            case .tooEarly: 425
            case .timedOut: 408
            case .unauthorized: 401
            }
        var header = Self.header
        if trouble == .overloaded { header[.retryAfter] = "3" }
        return HttpResponse(status: status, header: header, body: HttpBodyStream { nil })
    }

    private static let header: HttpHeader = [.contentType: "text/event-stream"]
}

/// Reads a feed until an event of this number has come.
package func readFeed(
    to last: Int,
    from server: any HttpTransport,
    on clock: ManualClock,
    _ policy: BackoffRetrier.Configuration = .standard,
    limit: ReconnectLimit = .none,
    interceptors: [any HttpInterceptor] = [],
    deadline: Duration? = nil
) async throws -> [Int] {
    let service = AnyHttpService(
        apiUrl: "api.example.com",
        interceptors: interceptors,
        retrierFactory: BackoffRetrier.factory(policy),
        transport: server,
        clock: clock
    )
    var numbers: [Int] = []
    let ping = Ping(timeout: .seconds(5), deadline: deadline)
    for try await event in ping.events(with: service, reconnectLimit: limit) {
        numbers.append(Int(event.data) ?? 0)
        if numbers.last ?? 0 >= last { break }
    }
    return numbers
}

/// The most of the moments that lie within any span of this length.
package func crowd(_ moments: [Duration], within span: Duration = .milliseconds(100)) -> Int {
    let moments = moments.sorted()
    var (first, most) = (0, 0)
    for index in moments.indices {
        while moments[index] - moments[first] >= span { first += 1 }
        most = max(most, index - first + 1)
    }
    return most
}

/// A transport whose answers depend on their number, counted from 0.
package func numbered(
    _ clock: ManualClock,
    _ answer: @escaping @Sendable (_ request: HttpRequest, _ number: Int) -> ScriptedReply
) -> ScriptedTransport {
    let count = Locked(0)
    return ScriptedTransport(clock: clock) { request, _ in
        let number = count.withLock { count in
            defer { count += 1 }
            return count
        }
        return answer(request, number)
    }
}
