import Nautilus
import NautilusTesting
import Testing

extension TestKit {
    @Suite("RecordingObserver")
    struct RecordingObserverTests {
        @Test("it keeps events in order, and counts attempts and refreshes")
        func records() {
            let observer = RecordingObserver()
            observer.observe(.attemptStarted(request: "GetNote", number: 1))
            observer.observe(.refreshStarted(generation: 0))
            observer.observe(.refreshEnded(generation: 1))
            observer.observe(.attemptStarted(request: "GetNote", number: 2))
            observer.observe(.callEnded(request: "GetNote", CallTrace()))
            #expect(observer.isEnabled)
            #expect(observer.events.count == 5)
            #expect(observer.attemptCount == 2)
            #expect(observer.refreshCount == 1)
            #expect(observer.traces == [CallTrace()])
        }
    }
}
