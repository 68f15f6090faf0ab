import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("An interruption")
struct InterruptionTests {
    private let interruption = Interruption()
    private let calls = Counter()

    @Test("it is told once to who listens, however often it occurs")
    func once() {
        interruption.onOccurrence { [calls] in calls.increment() }
        #expect(calls.value == 0)
        interruption.occur()
        interruption.occur()
        #expect(calls.value == 1)
    }

    @Test("who listens after it has occurred is told at once: the next exchange of redirects, above all")
    func late() {
        interruption.occur()
        interruption.onOccurrence { [calls] in calls.increment() }
        #expect(calls.value == 1)
    }

    @Test("who listens no more is not told")
    func ignored() {
        interruption.onOccurrence { [calls] in calls.increment() }
        interruption.ignore()
        interruption.occur()
        #expect(calls.value == 0)
    }

    @Test("a listener takes the place of the one before")
    func replaced() {
        let earlier = Counter()
        interruption.onOccurrence { earlier.increment() }
        interruption.onOccurrence { [calls] in calls.increment() }
        interruption.occur()
        #expect(earlier.value == 0)
        #expect(calls.value == 1)
    }
}
