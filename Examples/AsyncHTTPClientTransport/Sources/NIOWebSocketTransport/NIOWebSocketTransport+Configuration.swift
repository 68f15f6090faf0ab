import NIOSSL

extension NIOWebSocketTransport {
    /// What can be chosen about a ``NIOWebSocketTransport``.
    public struct Configuration: Sendable {
        /// The largest message that is taken, in bytes, all its fragments together; a larger one closes the socket with
        /// 1009. At most 4 GiB.
        ///
        /// 16 MiB, far above what is sent as one message, since each may be in memory as a whole.
        public var messageLimit: Int
        /// How many messages may wait for the reader before no more are read; less than 1 counts as 1. 256 KiB of them are
        /// enough, however few they are.
        ///
        /// 16, so that pings are answered while the reader is busy for a moment.
        public var messagesAhead: Int
        /// How much of the body is kept when the server answers with another status than 101, in bytes; the rest is cut off.
        ///
        /// 64 KiB, enough for what a server has to say of its refusal.
        public var declinedBodyLimit: Int
        /// How long the server may take to end the connection once the socket has been closed, before it is cut.
        ///
        /// 5 s: nobody waits for it but a `close` that the server does not read.
        public var closeTimeout: Duration
        /// Adjusts TLS before it is used: trust roots, a client certificate. Nil for no adjustment, the default: the system's
        /// roots, and the host's name is verified.
        public var adjust: (@Sendable (inout TLSConfiguration) -> Void)?

        /// Creates a configuration; every default gives its reason at the property.
        public init(
            messageLimit: Int = 16_777_216,
            messagesAhead: Int = 16,
            declinedBodyLimit: Int = 65_536,
            closeTimeout: Duration = .seconds(5),
            adjust: (@Sendable (inout TLSConfiguration) -> Void)? = nil
        ) {
            self.messageLimit = messageLimit
            self.messagesAhead = messagesAhead
            self.declinedBodyLimit = declinedBodyLimit
            self.closeTimeout = closeTimeout
            self.adjust = adjust
        }

        /// ``messageLimit``, within what a frame can have and NIO takes.
        var largestMessage: Int { min(max(0, messageLimit), Int(UInt32.max)) }
    }
}
