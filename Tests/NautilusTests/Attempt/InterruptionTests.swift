import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("An interruption")
struct InterruptionTests {
    private let interruption = Interruption()
    private let calls = Counter()

    @Test("a listener is told of an interruption once, however often it occurs")
    func once() {
        interruption.onOccurrence { [calls] in calls.increment() }
        #expect(calls.value == 0)
        interruption.occur()
        interruption.occur()
        #expect(calls.value == 1)
    }

    @Test("a listener that comes after the interruption, such as a redirect's exchange, is told at once")
    func late() {
        interruption.occur()
        interruption.onOccurrence { [calls] in calls.increment() }
        #expect(calls.value == 1)
    }

    @Test("a listener that was removed is not told of the interruption")
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
