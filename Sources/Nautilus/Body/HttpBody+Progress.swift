import Foundation

extension HttpBody {
    /// This body, with a report of how much of it has been sent.
    ///
    /// - Parameter progress: Told after each part, on a thread of the transport's that must not be held up, never twice
    ///   at the same time within an attempt. A new attempt, and a redirect that takes the body along, begins at 0
    ///   again. A transport that reads the body chunk by chunk counts the bytes that it has taken; `URLSession` counts,
    ///   of files and of bytes in memory, those that have left.
    public func reporting(_ progress: @escaping @Sendable (HttpProgress) -> Void) -> HttpBody {
        HttpBody(contentType: contentType, contentEncoding: contentEncoding) { encoder in
            switch try payload(encoder) {
            case .empty: .empty
            case .data(let data): .stream(HttpBodyStream(data).reporting(progress))
            case .stream(let stream): .stream(stream.reporting(progress))
            }
        }
    }
}

extension HttpBodyStream {
    /// The same chunks, which tell how many of them have been taken.
    func reporting(_ progress: @escaping @Sendable (HttpProgress) -> Void) -> HttpBodyStream {
        let (total, inner) = (length, onSent)
        let report: @Sendable (Int64) -> Void = { progress(HttpProgress(completed: $0, total: total)) }
        guard !isOneShot else {
            return HttpBodyStream(once: ReportedChunks(stream: self, report: report), length: length)
        }
        let onSent: @Sendable (Int64) -> Void = { count in
            inner?(count)
            report(count)
        }
        return HttpBodyStream(length: length, whole: whole, onSent: onSent) {
            ReportedChunks(stream: self, report: report)
        }
    }
}

/// Chunks that are counted when the next one is asked for: until then the last one is still under way.
private struct ReportedChunks: AsyncSequence, Sendable {
    typealias Element = Data

    let stream: HttpBodyStream
    let report: @Sendable (Int64) -> Void

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(chunks: stream.makeAsyncIterator(), report: report)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        var chunks: HttpBodyStream.AsyncIterator
        let report: @Sendable (Int64) -> Void
        var taken: Int64 = 0
        var reported: Int64 = 0

        mutating func next() async throws -> Data? {
            if taken > reported {
                report(taken)
                reported = taken
            }
            guard let chunk = try await chunks.next() else { return nil }
            taken += Int64(chunk.count)
            return chunk
        }
    }
}
