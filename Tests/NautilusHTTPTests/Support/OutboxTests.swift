import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Outbox")
struct OutboxTests {
    @Test("an outbox has one delivery at a time, which includes later messages in order")
    func oneAtATime() {
        var outbox = Outbox<Int>()
        outbox.add(1)
        outbox.add(2)
        #expect(outbox.beginDelivery() == [1, 2])
        outbox.add(3)
        #expect(outbox.beginDelivery() == nil, "another one delivers already")
        #expect(outbox.continueDelivery() == [3])
        #expect(outbox.continueDelivery() == nil)
    }

    @Test("after a delivery the next one can begin")
    func again() {
        var outbox = Outbox<Int>()
        for number in 1...3 {
            outbox.add(number)
            #expect(outbox.beginDelivery() == [number])
            #expect(outbox.continueDelivery() == nil)
        }
        #expect(outbox.beginDelivery() == nil, "there is nothing to deliver")
    }
}
