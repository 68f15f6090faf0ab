import NIOCore
import Nautilus

extension WebSocketClosure {
    /// What a frame that closes says (RFC 6455 §5.5.1); no code is 1005.
    ///
    /// - Throws: A closure with the code to answer by: 1002 for a code that must not be sent, 1007 for a reason that is not
    ///   UTF-8.
    init(payload: ByteBuffer) throws(WebSocketClosure) {
        var payload = payload
        guard payload.readableBytes > 0 else {
            self.init(.noStatusReceived)
            return
        }
        guard let number = payload.readInteger(as: UInt16.self) else { throw WebSocketClosure(.protocolError) }
        let code = WebSocketCloseCode(rawValue: number)
        guard code.isSendable else { throw WebSocketClosure(.protocolError) }
        guard let reason = payload.utf8Text else { throw WebSocketClosure(.invalidPayload) }
        self.init(code, reason: reason)
    }

    /// What goes into a frame that closes: nothing for a code that must not be sent, and no reason where it does not fit.
    var payload: ByteBuffer {
        guard code.isSendable else { return ByteBuffer() }
        var payload = ByteBuffer(integer: code.rawValue)
        if reason.utf8.count <= 123 { payload.writeString(reason) }
        return payload
    }
}

extension ByteBuffer {
    /// The text; nil when it is not UTF-8 (RFC 6455 §8.1).
    var utf8Text: String? {
        let text = String(buffer: self)
        // Decoding replaces what is not UTF-8, so that the bytes are no longer the same.
        return ByteBuffer(string: text) == self ? text : nil
    }
}
