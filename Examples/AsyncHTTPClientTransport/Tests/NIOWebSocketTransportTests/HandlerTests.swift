import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOWebSocket
import Nautilus
import Testing

@testable import NIOWebSocketTransport

/// What no real server can be made to show: which reads are let through, and time that passes.
@Suite("The handler of frames, on a loop of the test's own")
struct HandlerTests {
    private let channel = EmbeddedChannel()
    private let inbox = MessageInbox(messagesAhead: 3)
    private let reads = ReadCounter()
    private let handler: SocketHandler

    init() throws {
        let configuration = NIOWebSocketTransport.Configuration(messagesAhead: 3, closeTimeout: .seconds(5))
        handler = SocketHandler(inbox, configuration)
        try channel.pipeline.syncOperations.addHandlers(reads, handler)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        reads.count = 0
    }

    private func receive(_ opcode: WebSocketOpcode, _ data: ByteBuffer) throws {
        try channel.writeInbound(WebSocketFrame(fin: true, opcode: opcode, data: data))
    }

    private func sent() throws -> WebSocketFrame? { try channel.readOutbound(as: WebSocketFrame.self) }

    @Test("no more is read than may wait, until the reader takes one")
    func readsAhead() throws {
        for number in 1...3 {
            channel.read()
            #expect(reads.count == number)
            try receive(.text, ByteBuffer(string: "\(number)"))
        }
        channel.read()
        #expect(reads.count == 3)
        let (_, readsOn) = inbox.take()
        #expect(readsOn)
        handler.readOn()
        #expect(reads.count == 4)
        // There was nothing more to be held back.
        #expect(!inbox.take().readsOn)
    }

    @Test("a few large messages are enough")
    func readsAheadBytes() throws {
        try receive(.binary, ByteBuffer(repeating: 7, count: 262_143))
        channel.read()
        #expect(reads.count == 1)
        try receive(.binary, ByteBuffer(repeating: 7, count: 1))
        channel.read()
        #expect(reads.count == 1)
    }

    @Test("a server that does nothing but ping is answered when there is room, by the last of its pings")
    func pings() throws {
        channel.isWritable = false
        let held = HeldWrites()
        try channel.pipeline.syncOperations.addHandler(held, position: .before(handler))
        for number in 1...100 { try receive(.ping, ByteBuffer(string: "\(number)")) }
        #expect(held.frames.map { String(buffer: $0.data) } == ["1"])
        held.complete()
        #expect(held.frames.map { String(buffer: $0.data) } == ["1", "100"])
    }

    @Test(
        "a server that does not end the connection is left after the time for it, on either side's closing",
        arguments: [true, false]
    )
    func closeTimeout(byServer: Bool) throws {
        if byServer {
            try receive(.connectionClose, WebSocketClosure(4000).payload)
        } else {
            handler.close(WebSocketClosure(4000), Reply())
        }
        let frame = try #require(try sent())
        #expect(try WebSocketClosure(payload: frame.data) == WebSocketClosure(4000))
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(4999))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!channel.isActive)
    }

    @Test("behind a closing everything is read, so that the end is not missed")
    func readsBehindClosing() throws {
        for _ in 1...3 { try receive(.text, ByteBuffer(string: "a")) }
        channel.read()
        #expect(reads.count == 0)
        handler.close(WebSocketClosure(.normalClosure), Reply())
        #expect(reads.count == 1)
        channel.read()
        #expect(reads.count == 2)
    }

    @Test("nothing is left of a socket whose connection has ended")
    func released() throws {
        weak var (handler, inbox): (SocketHandler?, MessageInbox?)
        let loop = EmbeddedEventLoop()
        do {
            let channel = EmbeddedChannel(loop: loop)
            let made = MessageInbox(messagesAhead: 3)
            let frames = SocketHandler(made, NIOWebSocketTransport.Configuration())
            try channel.pipeline.syncOperations.addHandler(frames)
            let connection = SocketConnection(frames, made, on: channel.eventLoop)
            (handler, inbox) = (frames, made)
            try channel.close().wait()
            withExtendedLifetime(connection) {}
        }
        // What the released connection has left to be done.
        loop.run()
        #expect(handler == nil)
        #expect(inbox == nil)
    }

    @Test("a closing that must not be sent goes without a code, and a reason that does not fit is left out")
    func payloads() throws {
        #expect(WebSocketClosure(.abnormalClosure, reason: "a").payload.readableBytes == 0)
        #expect(WebSocketClosure(4000, reason: String(repeating: "a", count: 123)).payload.readableBytes == 125)
        #expect(WebSocketClosure(4000, reason: String(repeating: "a", count: 124)).payload.readableBytes == 2)
    }
}

/// Counts the reads that get through.
private final class ReadCounter: ChannelOutboundHandler {
    typealias OutboundIn = Any
    var count = 0

    func read(context: ChannelHandlerContext) {
        count += 1
        context.read()
    }
}

/// Takes frames, and says only on demand that they are written.
private final class HeldWrites: ChannelOutboundHandler {
    typealias OutboundIn = WebSocketFrame
    private(set) var frames: [WebSocketFrame] = []
    private var promises: [EventLoopPromise<Void>] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        frames.append(Self.unwrapOutboundIn(data))
        if let promise { promises.append(promise) }
    }

    func complete() {
        let promises = promises
        self.promises = []
        promises.forEach { $0.succeed() }
    }
}
