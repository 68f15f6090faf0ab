import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("Several observers as one")
struct ComposedCallObserverTests {
    @Test("each composed observer that wants events gets all of them")
    func all() async throws {
        let (first, second) = (RecordingObserver(), RecordingObserver())
        let service = AnyHttpService(apiUrl: "api.example.com", transport: ScriptedTransport(.reply(text: "ok")))
            .with { $0.observer = .composed(first, .none, .composed(second)) }
        _ = try await Ping.get.schedule(with: service)
        #expect(first.traces.count == 1)
        #expect(first.events.count == second.events.count)
    }

    @Test("an observer that wants no events gets none; if no observer wants any, none are made")
    func disabled() {
        let observer = Disabled()
        for silent: any CallObserver in [.composed(observer, .none), .composed()] { #expect(!silent.isEnabled) }
        let composed: any CallObserver = .composed(observer, RecordingObserver())
        #expect(composed.isEnabled)
        composed.observe(.refreshStarted(generation: 1))
    }

    private struct Disabled: CallObserver {
        let isEnabled = false

        func observe(_ event: CallEvent) { Issue.record("it wants no events") }
    }
}
