import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus

@Suite("Retries within an attempt of a call that retries are told of")
struct NestedRetriesTests {
    /// Where the outer call makes the inner one.
    enum Place: CaseIterable, Sendable {
        case header, interceptor, prepare, transport, retry, hook
    }

    private struct Outer: Request {
        typealias Result = String
        var route: HttpRoute { [] }
    }

    private struct Nesting: HttpInterceptor, ServiceHook, HttpTransport, Retrier {
        let spot: Place
        let call: @Sendable () async -> Void
        var sharedObjects: [any AnyObject & Sendable] { [] }

        func visit(_ here: Place) async {
            if here == spot { await call() }
        }
        func onSuccess<R: Request>(_ request: R, response: HttpResponse<R.Result>) async { await visit(.hook) }
        func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
            await visit(.interceptor)
            return try await next(request)
        }
        mutating func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws {
            await visit(.prepare)
        }
        mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
            await visit(.retry)
            return .retry(after: .zero)
        }
        func send(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<Data> {
            await visit(.transport)
            return HttpResponse(status: context.number == 1 && spot == .retry ? 503 : 200, header: [:], body: Data())
        }
    }

    /// The notes of a call that is made in `place` of another one.
    private func notes(
        _ place: Place,
        outer: Int?,
        inner: Int?,
        hedging: Hedging? = nil
    ) async throws -> [CallTrace.Note] {
        try await simulate { simulation in
            let observer = RecordingObserver()
            let innerService = AnyHttpService(
                apiUrl: "inner.example.com",
                retrierFactory: inner.map { steadyBackoff(maxAttempts: $0) } ?? NilRetrier.factory(),
                transport: ScriptedTransport(.reply(text: "ok"), afterLast: .repeat),
                clock: simulation.clock
            ).with { $0.observer = observer }
            let nesting = Nesting(spot: place) { _ = try? await Ping.get.schedule(with: innerService) }
            let descriptions = outer.map { [RetryDescription(maxAttempts: $0)] } ?? []
            let outerService = AnyHttpService(
                apiUrl: "outer.example.com",
                interceptors: [nesting],
                retrierFactory: AnyRetrierFactory(descriptions: descriptions) { nesting },
                transport: nesting,
                clock: simulation.clock
            ).with {
                $0.hedging = hedging
                $0.hook = nesting
                $0.asyncHeader = {
                    await nesting.visit(.header)
                    return [:]
                }
            }
            let trace = try await Outer().response(with: outerService).trace
            #expect(trace.notes == [])
            return observer.traces.flatMap(\.notes)
        }
    }

    @Test("within an attempt the attempts multiply; beside one they do not", arguments: Place.allCases)
    func places(place: Place) async throws {
        let isWithin = place != .retry && place != .hook
        let note = CallTrace.Note.nestedRetries(within: "Outer", outerAttempts: 3, attempts: 4)
        #expect(try await notes(place, outer: 3, inner: 4) == (isWithin ? [note] : []))
    }

    @Test(
        "when only one of them retries, or nobody knows, there is nothing to tell",
        arguments: [(1, 4), (3, 1), (3, nil), (nil, 4)] as [(Int?, Int?)]
    )
    func oneLayer(outer: Int?, inner: Int?) async throws {
        #expect(try await notes(.interceptor, outer: outer, inner: inner) == [])
    }

    @Test("a send of a service that hedges is within the attempt, too")
    func hedged() async throws {
        let hedging = Hedging(after: .fixed(.seconds(1)), latencies: OriginLatencies(), budget: .unlimited)
        #expect(try await notes(.transport, outer: 2, inner: 2, hedging: hedging).count == 1)
    }

    @Test("a refresh that calls share is part of no attempt")
    func refresh() async throws {
        try await simulate { simulation in
            let observer = RecordingObserver()
            let tokens = AnyHttpService(
                apiUrl: "id.example.com",
                retrierFactory: steadyBackoff(),
                transport: ScriptedTransport(.reply(text: "fresh")),
                clock: simulation.clock
            ).with { $0.observer = observer }
            let coordinator = RefreshCoordinator(
                credential: Token(number: 1),
                lifetime: { $0.number == 1 ? .zero : nil },
                clock: simulation.clock
            ) { _ in
                _ = try await Ping.post.schedule(with: tokens)
                return Token(number: 2)
            }
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                retrierFactory: ComposedRetrier.factory(AuthorizationRetrier.factory(coordinator), steadyBackoff()),
                transport: ScriptedTransport(.reply(text: "ok"), afterLast: .repeat),
                clock: simulation.clock
            )
            _ = try await Ping.get.schedule(with: service)
            #expect(observer.traces.map(\.notes) == [[]])
        }
    }

    @Test("the trace prints it, with what to do")
    func description() {
        var trace = CallTrace()
        trace.notes = [.nestedRetries(within: "Outer", outerAttempts: 3, attempts: 4)]
        #expect(
            trace.description == """
                no request: 0 attempts in 0 ms
                  nested retries: up to 4 attempts in each of up to 3 of Outer; let one of the two calls retry
                """
        )
    }
}
