import FlyingFox
import FlyingSocks

/// Closes the connection without a byte of an answer.
///
/// FlyingFox writes the header of every answer, but that of a WebSocket only after its handler has agreed; one that
/// refuses leaves nothing to write, and the connection closes.
struct DroppedConnection: WSHandler {
    struct Refusal: Error {}

    func makeFrames(for client: AsyncThrowingStream<WSFrame, any Error>) async throws -> AsyncStream<WSFrame> {
        throw Refusal()
    }
}
