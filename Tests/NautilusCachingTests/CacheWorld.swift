import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusCaching
@testable import NautilusHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A service with an HTTP cache, on a clock that starts on 6 November 1994 at 08:49:37.
struct CacheWorld: Sendable {
    /// The moment at which the clock starts, in seconds since 1970.
    static let start: Int64 = 784_111_777

    let clock: ManualClock
    let transport: ScriptedTransport
    let cache: HttpCache
    let service: AnyHttpService<HttpError>

    init(
        clock: ManualClock = ManualClock(),
        accounts: CacheAccounts = .anonymousOnly,
        maxBytes: Int = 1 << 20,
        maxResponseBytes: Int? = nil,
        folder: CacheFolder? = nil,
        staleIfError: Duration = .zero,
        retrier: any RetrierFactory = .never,
        inside interceptors: [any HttpInterceptor] = [],
        hook: any ServiceHook = NilServiceHook(),
        header: HttpHeader = [:],
        responder: @escaping ScriptedReply.Responder
    ) {
        self.clock = clock
        transport = ScriptedTransport(clock: clock, responder: responder)
        cache = HttpCache(
            maxBytes: maxBytes,
            maxResponseBytes: maxResponseBytes,
            folder: folder,
            accounts: accounts,
            staleIfError: staleIfError,
            wallClock: { clock.date }
        )
        service = AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: [cache] + interceptors,
            retrierFactory: retrier,
            transport: transport,
            clock: clock
        ).with {
            $0.header = header
            $0.hook = hook
        }
    }

    /// A world whose server gives these answers, one after the other.
    static func answering(
        _ replies: ScriptedReply...,
        accounts: CacheAccounts = .anonymousOnly,
        staleIfError: Duration = .zero
    ) -> CacheWorld {
        let next = Counter()
        return CacheWorld(accounts: accounts, staleIfError: staleIfError) { _, _ in
            let number = next.increment()
            guard number <= replies.count else { throw URLError(.badServerResponse) }
            return replies[number - 1]
        }
    }

    /// One call, in a few words: `200 body age 3`, `200 body` for one without an age, or the error's kind.
    func get(
        _ header: HttpHeader = [:],
        _ route: HttpRoute = ["things"],
        method: HttpMethod = .get,
        isAnonymous: Bool = false
    ) async -> String {
        do throws(HttpError) {
            let request = Ping(method: method, route: route, header: header, acceptedStatusCodes: [.success, 301, 404])
            let response =
                if isAnonymous {
                    try await request.response(with: service.anonymous)
                } else {
                    try await request.response(with: service)
                }
            let age = response.header["Age"].map { " age \($0)" } ?? ""
            return "\(response.status)\(response.body.isEmpty ? "" : " " + response.body)\(age)"
        } catch {
            return "\(error.kind)"
        }
    }

    func advance(_ seconds: Int) {
        clock.advance(by: .seconds(seconds))
    }

    /// The `If-None-Match` of each request that was sent; `-` for none.
    var sentTags: [String] { transport.attempts.map { $0.header["If-None-Match"] ?? "-" } }
}

extension ManualClock {
    /// The time of day.
    var date: Date {
        Date(timeIntervalSince1970: Double(CacheWorld.start) + Double(now.offset.components.seconds))
    }
}

/// A moment some seconds after the start of a ``CacheWorld``, as HTTP writes it.
func httpDate(_ seconds: Int64) -> String {
    var (time, parts) = (time_t(CacheWorld.start + seconds), tm())
    gmtime_r(&time, &parts)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let two: (Int32) -> String = { $0 < 10 ? "0\($0)" : "\($0)" }
    let clock = "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    let (day, month) = (days[Int(parts.tm_wday)], months[Int(parts.tm_mon)])
    return "\(day), \(two(parts.tm_mday)) \(month) \(parts.tm_year + 1900) \(clock) GMT"
}

extension StoredResponse {
    /// A response that was asked for and received at the start of a ``CacheWorld``.
    static func test(
        _ header: HttpHeader,
        status: Int = 200,
        body: String = "body",
        requestedAt: Int64 = 0,
        receivedAt: Int64 = 0,
        selectors: [String: String?] = [:]
    ) -> StoredResponse {
        StoredResponse(
            status: status,
            header: header,
            body: Data(body.utf8),
            selectors: VarySelectors(selectors.mapValues { VarySelectors.Value(seen: $0, sent: $0) }),
            requestTime: CacheWorld.start + requestedAt,
            responseTime: CacheWorld.start + receivedAt
        )
    }
}
