import Nautilus
import NautilusTesting
import TestSupport
import Testing

extension TestKit {
    @Suite("RecordingObserver")
    struct RecordingObserverTests {
        @Test("a RecordingObserver keeps events in order, and counts refreshes")
        func records() {
            let observer = RecordingObserver()
            let call = CallIdentity(id: 1, requestType: Ping.self)
            observer.observe(.attemptStarted(call, number: 1))
            observer.observe(.refreshStarted(generation: 0))
            observer.observe(.refreshEnded(generation: 1))
            observer.observe(.attemptStarted(call, number: 2))
            observer.observe(.callEnded(call, CallTrace()))
            #expect(observer.isEnabled)
            #expect(observer.events.count == 5)
            #expect(observer.refreshCount == 1)
            #expect(observer.traces == [CallTrace()])
        }
    }
}
