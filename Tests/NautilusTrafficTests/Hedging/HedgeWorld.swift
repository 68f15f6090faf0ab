import Foundation
import Nautilus
import NautilusTesting
import NautilusTraffic
import TestSupport

/// The result of one call of a service that hedges.
struct Hedged: Sendable {
    let outcome: Outcome
    /// Every send, in order, as it has ended, also when the call had ended before.
    let sends: [RecordedAttempt]

    var hedge: CallTrace.Hedge? { outcome.trace.attempts.last?.hedge }
    /// `200`, `failed, …`, `cancelled`, in the order of sending.
    var ends: [String] { sends.map { "\($0.outcome)" } }
}

/// One call in virtual time; its sends get these replies, in order, and 599 when there are no more.
///
/// - Parameters:
///   - delay: Default: after 100 ms.
///   - budget: Default: none. The default of the library is shared by the whole process, all tests included.
///   - latencies: Default: none known.
///   - cancelling: When the caller gives up.
func hedged(
    _ request: Ping = .get,
    _ replies: ScriptedReply...,
    after delay: Hedging.Delay = .fixed(.milliseconds(100)),
    budget: RetryBudgetScope = .unlimited,
    latencies: OriginLatencies? = nil,
    gate: (@Sendable (ManualClock) -> any RetryGate)? = nil,
    retrier: any RetrierFactory = .never,
    interceptors: [any HttpInterceptor] = [],
    observer: any CallObserver = .none,
    cancelling: Duration? = nil,
    seed: UInt64 = 0
) async throws -> Hedged {
    try await simulate(seed: seed) { simulation in
        let clock = simulation.clock
        let left = Locked(replies)
        let transport = ScriptedTransport(clock: clock) { _, _ in
            left.withLock { $0.isEmpty ? .status(599) : $0.removeFirst() }
        }
        let service = AnyHttpService(
            apiUrl: "api.example.com",
            interceptors: interceptors,
            retrierFactory: retrier,
            transport: transport,
            clock: clock
        ).with {
            $0.interceptors.append(
                Hedging(
                    after: delay,
                    latencies: latencies ?? OriginLatencies(clock: clock),
                    budget: budget,
                    gate: gate?(clock)
                )
            )
            $0.observer = observer
        }
        let outcome = await withTaskGroup(of: Outcome?.self) { group in
            group.addTask {
                do throws(HttpError) {
                    let response = try await request.response(with: service)
                    return Outcome(response: response, error: nil, end: clock.now.offset)
                } catch {
                    return Outcome(response: nil, error: error, end: clock.now.offset)
                }
            }
            if let cancelling {
                group.addTask {
                    try? await clock.sleep(for: cancelling)
                    return nil
                }
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            let second = await group.next() ?? nil
            return first ?? second
        }
        // Sends that are left behind have the time to end, if they do.
        await clock.run()
        return Hedged(outcome: outcome ?? Outcome(response: nil, error: nil, end: .zero), sends: transport.attempts)
    }
}

extension ScriptedReply {
    /// `text` after `milliseconds`.
    static func ok(_ text: String = "ok", after milliseconds: Int) -> ScriptedReply {
        .delay(.milliseconds(milliseconds), then: .reply(text: text))
    }

    static func status(_ status: Int, after milliseconds: Int, header: HttpHeader = [:]) -> ScriptedReply {
        .delay(.milliseconds(milliseconds), then: .status(status, header: header))
    }

    static func lost(after milliseconds: Int, delivery: Delivery = .maybeExecuted) -> ScriptedReply {
        .delay(.milliseconds(milliseconds), then: .fail(.networkConnectionLost, delivery: delivery))
    }
}
