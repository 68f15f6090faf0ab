import Nautilus
import Testing

@Suite("WebSocketClosure.Code")
struct WebSocketCloseCodeTests {
    @Test("only codes that RFC 6455 §7.4 lets an endpoint send are sendable: the boundaries of each range")
    func sendable() {
        let sendable: [UInt16] = [1000, 1003, 1007, 1014, 3000, 4999]
        let others: [UInt16] = [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535]
        #expect(sendable.filter { !WebSocketClosure.Code(rawValue: $0).isSendable } == [])
        #expect(others.filter { WebSocketClosure.Code(rawValue: $0).isSendable } == [])
    }
}
