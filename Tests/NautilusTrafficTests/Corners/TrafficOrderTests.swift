import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusTraffic

@Suite("The order of guards")
struct TrafficOrderTests {
    enum Order: CaseIterable {
        case limitFirst, pacingFirst

        func interceptors(_ limit: ConcurrencyLimit, _ pacing: Pacing) -> [any HttpInterceptor] {
            self == .limitFirst ? [limit, pacing] : [pacing, limit]
        }
    }

    /// How many of a hundred calls that come at once succeed without a retry, and when the last has ended.
    private func burst(_ order: Order, quota: Int) async throws -> (succeeded: Int, end: Duration) {
        try await simulate { simulation in
            let (clock, server) = (simulation.clock, CountingServer(quota: quota, clock: simulation.clock))
            let pacing = Pacing(clock: clock, random: FixedRandomSource(0))
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: order.interceptors(ConcurrencyLimit(8), pacing),
                transport: server,
                clock: clock
            )
            let succeeded = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<100 {
                    group.addTask { (try? await Ping.get.response(with: service)) != nil }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            return (succeeded, clock.now.offset)
        }
    }

    @Test(
        "C29: a burst that knows of no limit succeeds in whichever order pacing and limit are listed",
        arguments: Order.allCases
    )
    func burst(order: Order) async throws {
        let burst = try await burst(order, quota: 10)
        #expect(burst.succeeded == 100)
        // Ten in a second, and hardly more time than that takes.
        #expect(burst.end < .seconds(11))
    }
}

/// Takes so many requests in a second, and tells of it; an answer takes 20 ms.
private final class CountingServer: HttpTransport {
    private let quota: Int
    private let clock: ManualClock
    private let windows = Locked<[Int64: Int]>([:])

    init(quota: Int, clock: ManualClock) {
        (self.quota, self.clock) = (quota, clock)
    }

    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        let window = clock.now.offset.components.seconds
        let count = windows.withLock { windows in
            windows[window, default: 0] += 1
            return windows[window, default: 0]
        }
        try await clock.sleep(for: .milliseconds(20))
        let isTaken = count <= quota
        let header: HttpHeader = [
            "RateLimit": "\"a\";r=\(max(0, quota - count));t=1", "RateLimit-Policy": "\"a\";q=\(quota);w=1",
        ]
        return HttpResponse(
            status: isTaken ? 200 : 429,
            header: isTaken ? header : header.merging(["Retry-After": "1"]),
            body: Data(),
            url: request.url
        )
    }
}
