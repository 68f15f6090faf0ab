import Nautilus
import NautilusCombine
import NautilusTesting
import OpenCombine
import Testing

/// Errors in a service's own words.
private struct ServiceFailure: Error { let status: Int? }

private struct GetThing: Request {
    typealias Result = String
    var route: HttpRoute { ["thing"] }
}

private struct Service: HttpService {
    let transport: any HttpTransport
    let clock: any Clock<Duration>
    var apiUrl: any UrlConvertible { "api.example.com" }
    func mapError(_ error: HttpError) -> ServiceFailure { ServiceFailure(status: error.status) }
}

@Suite("Calls as publishers", .timeLimit(.minutes(10)))
struct CallPublisherTests {
    private typealias Calls = Recorder<String, ServiceFailure>

    @Test("lazy: nothing is sent for a publisher, nor for a subscriber that asks for nothing")
    func lazy() async throws {
        try await simulate { clock, _ in
            let (transport, publisher) = Self.world(clock)
            try await clock.sleep(for: .seconds(1))
            let recorder = Calls(asking: .none)
            publisher.subscribe(recorder)
            try await clock.sleep(for: .seconds(1))
            #expect(transport.count == 0)
            recorder.ask(.max(1))
            try await clock.sleep(for: .seconds(1))
            #expect(transport.count == 1)
            #expect(recorder.all == ["ok"])
            #expect(recorder.hasEnded)
        }
    }

    @Test("shared: several subscribers, one call, those included who come after its end")
    func shared() async throws {
        try await simulate { clock, _ in
            let (transport, publisher) = Self.world(clock)
            let copy = publisher
            let recorders = [Calls(), Calls(asking: .max(3)), Calls()]
            publisher.subscribe(recorders[0])
            copy.subscribe(recorders[1])
            try await clock.sleep(for: .seconds(1))
            publisher.subscribe(recorders[2])
            #expect(recorders.map(\.all) == [["ok"], ["ok"], ["ok"]])
            #expect(recorders.allSatisfy { $0.hasEnded && $0.failure == nil })
            #expect(transport.count == 1)
        }
    }

    @Test("a publisher of its own for each subscriber makes a call each")
    func deferred() async throws {
        try await simulate { clock, _ in
            let transport = Self.transport(clock)
            let publisher = Deferred { GetThing().publisher(with: Service(transport: transport, clock: clock)) }
            let recorders = [Calls(), Calls()]
            for recorder in recorders { publisher.subscribe(recorder) }
            try await clock.sleep(for: .seconds(1))
            #expect(recorders.map(\.all) == [["ok"], ["ok"]])
            #expect(transport.count == 2)
        }
    }

    @Test("a subscriber that has requested no value yet gets the result when it does")
    func demand() async throws {
        try await simulate { clock, _ in
            let (transport, publisher) = Self.world(clock)
            let (eager, patient) = (Calls(), Calls(asking: .none))
            publisher.subscribe(patient)
            publisher.subscribe(eager)
            try await clock.sleep(for: .seconds(1))
            #expect(eager.all == ["ok"])
            #expect(patient.all == [] && !patient.hasEnded)
            patient.ask(.max(1))
            #expect(patient.all == ["ok"] && patient.hasEnded)
            patient.ask(.unlimited)
            #expect(patient.all == ["ok"])
            #expect(transport.count == 1)
        }
    }

    @Test("the service's own error, to all, without another try")
    func failure() async throws {
        try await simulate { clock, _ in
            let (transport, publisher) = Self.world(clock, .status(404))
            let recorders = [Calls(), Calls()]
            for recorder in recorders { publisher.subscribe(recorder) }
            try await clock.sleep(for: .seconds(1))
            #expect(recorders.map { $0.failure?.status } == [404, 404])
            let late = Calls()
            publisher.retry(3).subscribe(late)
            #expect(late.failure?.status == 404)
            #expect(recorders.allSatisfy { $0.all.isEmpty })
            #expect(transport.count == 1)
        }
    }

    @Test("the last subscriber that leaves cancels the call; one that comes then has it made anew")
    func cancellation() async throws {
        try await simulate { clock, _ in
            let (transport, publisher) = Self.world(clock)
            let recorders = [Calls(), Calls()]
            for recorder in recorders { publisher.subscribe(recorder) }
            try await transport.waitForAttempts(count: 1)
            recorders[0].cancel()
            recorders[0].cancel()
            try await clock.sleep(for: .milliseconds(1))
            #expect(transport.inFlightCount == 1)
            recorders[1].cancel()
            try await clock.sleep(for: .milliseconds(1))
            #expect(transport.inFlightCount == 0)
            #expect(recorders.allSatisfy { $0.all.isEmpty && !$0.hasEnded })

            let next = Calls()
            publisher.subscribe(next)
            try await clock.sleep(for: .seconds(1))
            #expect(next.all == ["ok"])
            #expect(transport.count == 2)
        }
    }

    @Test("a subscription that is let go of is one that has left, and nothing is kept alive")
    func release() async throws {
        try await simulate { clock, _ in
            final class Owner: Sendable {}
            weak var released: Owner?
            let transport = Self.transport(clock)
            var subscription: AnyCancellable?
            do {
                let owner = Owner()
                released = owner
                let publisher = GetThing().publisher(with: Service(transport: transport, clock: clock))
                subscription = publisher.sink(
                    receiveCompletion: { [owner] _ in _ = owner },
                    receiveValue: { [owner] _ in _ = owner }
                )
            }
            try await transport.waitForAttempts(count: 1)
            #expect(released != nil)
            #expect(subscription != nil)
            subscription = nil
            try await clock.sleep(for: .milliseconds(1))
            #expect(transport.inFlightCount == 0)
            #expect(released == nil)
        }
    }

    @Test("operators get what they expect: zipped with itself and reduced, it is one call")
    func operators() async throws {
        try await simulate { clock, _ in
            let (transport, publisher) = Self.world(clock)
            let recorder = Recorder<String, ServiceFailure>()
            publisher.zip(publisher) { $0 + $1 }.subscribe(recorder)
            let first = Recorder<String, ServiceFailure>()
            publisher.first().subscribe(first)
            try await clock.sleep(for: .seconds(1))
            #expect(recorder.all == ["okok"] && recorder.hasEnded)
            #expect(first.all == ["ok"] && first.hasEnded)
            #expect(transport.count == 1)
        }
    }

    @Test("a publisher has status, header and trace, if asked for")
    func response() async throws {
        try await simulate { clock, _ in
            let transport = Self.transport(clock, .reply(status: 201, header: ["X-A": "1"], text: "ok"))
            let publisher = GetThing().responsePublisher(with: Service(transport: transport, clock: clock))
            let recorder = Recorder<HttpResponse<String>, ServiceFailure>()
            publisher.subscribe(recorder)
            try await clock.sleep(for: .seconds(1))
            #expect(recorder.all.map(\.status) == [201])
            #expect(recorder.all.first?.header["X-A"] == "1")
            #expect(recorder.all.first?.trace.attempts.count == 1)
        }
    }

    @Test("a call with a completion handler is cancelled when its AnyCancellable is let go of")
    func handle() async throws {
        try await simulate { clock, _ in
            let transport = Self.transport(clock)
            let call = GetThing().schedule(with: Service(transport: transport, clock: clock), on: nil) { _ in }
            var subscriptions: Set<AnyCancellable> = []
            AnyCancellable(call).store(in: &subscriptions)
            #expect(!call.isCancelled)
            subscriptions = []
            #expect(call.isCancelled)
        }
    }

    @Test(
        "whenever subscribers come and leave, one call is answered, and the others were cancelled",
        arguments: 0..<200 as Range<UInt64>
    )
    func interleavings(seed: UInt64) async throws {
        try await simulate(seed: seed) { clock, random in
            let (transport, publisher) = Self.world(clock)
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 {
                    let start = Duration.milliseconds(Int(random.nextFraction() * 15))
                    let stay = random.nextFraction() < 0.5 ? Int(random.nextFraction() * 15) : 100
                    group.addTask {
                        let recorder = Calls()
                        try await clock.sleep(for: start)
                        publisher.subscribe(recorder)
                        try await clock.sleep(for: .milliseconds(stay))
                        recorder.cancel()
                        #expect(recorder.all.count <= 1)
                        if stay == 100 { #expect(recorder.all == ["ok"]) }
                        return stay == 100
                    }
                }
                let staying = try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                // The last cancellation takes its moment.
                try await clock.sleep(for: .seconds(1))
                let answered = transport.attempts.filter { if case .replied = $0.outcome { true } else { false } }
                #expect(answered.count == 1 || staying == 0 && answered.isEmpty)
                let cancelled = transport.attempts.filter { if case .cancelled = $0.outcome { true } else { false } }
                #expect(answered.count + cancelled.count == transport.count)
            }
            #expect(transport.inFlightCount == 0)
        }
    }

    private static func world(
        _ clock: ManualClock,
        _ reply: ScriptedReply = .reply(text: "ok")
    ) -> (ScriptedTransport, CallPublisher<String, ServiceFailure>) {
        let transport = transport(clock, reply)
        return (transport, GetThing().publisher(with: Service(transport: transport, clock: clock)))
    }

    private static func transport(
        _ clock: ManualClock,
        _ reply: ScriptedReply = .reply(text: "ok")
    ) -> ScriptedTransport {
        ScriptedTransport(clock: clock) { _, _ in .delay(.milliseconds(10), then: reply) }
    }
}
