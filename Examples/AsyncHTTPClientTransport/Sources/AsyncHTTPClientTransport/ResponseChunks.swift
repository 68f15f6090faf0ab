import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOFoundationCompat

/// The part of a body that has come and has not been read yet.
///
/// One writer, a connection, and one reader, a task. Bytes are put together until they are read; while they are many,
/// nothing more is read from the connection.
final class ResponseChunks: Sendable {
    /// From how many bytes on the connection is to wait: 256 KiB, more than a network brings while a task is woken.
    static let limit = 262_144

    private struct State {
        var bytes = ByteBuffer()
        /// How it has ended; nil while more may come.
        var end: Result<Void, any Error>?
        var reader: CheckedContinuation<Void, Never>?
        /// Lets the connection go on.
        var room: EventLoopPromise<Void>?
    }

    /// Guards what lies between a connection's thread and its reader's.
    private let state = NIOLockedValueBox(State())

    /// Takes bytes in; the future lets more come.
    func write(_ bytes: ByteBuffer, on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
        let (reader, future) = state.withLockedValue { state in
            guard state.end == nil else {
                return (CheckedContinuation<Void, Never>?.none, EventLoopFuture<Void>?.none)
            }
            if state.bytes.readableBytes == 0 {
                state.bytes = bytes
            } else {
                state.bytes.writeImmutableBuffer(bytes)
            }
            defer { state.reader = nil }
            guard state.bytes.readableBytes >= Self.limit else { return (state.reader, nil) }
            let room = eventLoop.makePromise(of: Void.self)
            state.room = room
            return (state.reader, room.futureResult)
        }
        reader?.resume()
        return future ?? eventLoop.makeSucceededVoidFuture()
    }

    /// Ends it; only the first end counts.
    ///
    /// - Parameter dropping: Whether its reader has gone: then this end counts even if all had come, so that the part
    ///   that was read is not taken for the whole. Default: no, what has come before can still be read.
    func finish(_ end: Result<Void, any Error>, dropping: Bool = false) {
        let (reader, room) = state.withLockedValue { state in
            if dropping || state.end == nil { state.end = end }
            if dropping { state.bytes = ByteBuffer() }
            defer { (state.reader, state.room) = (nil, nil) }
            return (state.reader, state.room)
        }
        reader?.resume()
        room?.succeed(())
    }

    /// The bytes that have come, as soon as there are any; nil after the last.
    ///
    /// - Throws: The error that it has ended with.
    func next() async throws -> Data? {
        while true {
            let (bytes, end, room) = state.withLockedValue { state in
                defer { (state.bytes, state.room) = (ByteBuffer(), nil) }
                return (state.bytes, state.end, state.room)
            }
            room?.succeed(())
            if bytes.readableBytes > 0 { return Data(buffer: bytes, byteTransferStrategy: .copy) }
            if let end {
                try end.get()
                return nil
            }
            await withCheckedContinuation { reader in
                let isReady = state.withLockedValue { state in
                    let isReady = state.bytes.readableBytes > 0 || state.end != nil
                    if !isReady { state.reader = reader }
                    return isReady
                }
                if isReady { reader.resume() }
            }
        }
    }
}
