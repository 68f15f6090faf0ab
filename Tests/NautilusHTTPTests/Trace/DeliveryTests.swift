import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Delivery")
struct DeliveryTests {
    @Test("a status says that nothing was done, or says nothing", arguments: [true, false])
    func statuses(hasRetryAfter: Bool) {
        let rejected = (100...599).filter { Delivery(status: $0, hasRetryAfter: hasRetryAfter) == .rejected }
        #expect(rejected == [307, 308, 401, 407, 421, 425, 429] + (hasRetryAfter ? [503, 529] : []))
        #expect((100...599).allSatisfy { Delivery(status: $0, hasRetryAfter: hasRetryAfter) != .notSent })
    }
}
