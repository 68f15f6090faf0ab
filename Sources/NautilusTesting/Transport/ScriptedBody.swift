import Foundation
import Nautilus

/// The body of a scripted response.
struct ScriptedBody: Sendable {
    let chunks: [Data]
    var pause = Duration.zero
    var error: (any Error)?

    /// The body as a transport gives it to its reader.
    func stream(on clock: any Clock<Duration>) -> HttpBodyStream {
        let position = Locked(0)
        let length = error == nil ? Int64(chunks.reduce(0) { $0 + $1.count }) : nil
        return HttpBodyStream(length: length) {
            try Task.checkCancellation()
            if pause > .zero { try await clock.sleep(for: pause) }
            let index = position.withLock { position in
                defer { position += 1 }
                return position
            }
            if index < chunks.count { return chunks[index] }
            if let error { throw error }
            return nil
        }
    }
}
