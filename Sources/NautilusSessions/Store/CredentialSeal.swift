import Foundation
import Nautilus

/// The outermost layer of a stored credential, the same in every version: the head names the format, the digest at the
/// end shows that nothing before it has changed.
enum CredentialSeal {
    /// The state of bytes that were read.
    enum State: Hashable, Sendable {
        /// Ours, as they were written.
        case intact
        /// Ours, and not as they were written.
        case broken
        /// Not ours.
        case unknown
    }

    private static let head = Array(#"{"format":"nautilus-credential","version":"#.utf8)
    private static let digestStart = Array(#","digest":""#.utf8)
    private static let end = Array(#""}"#.utf8)
    private static let tailCount = digestStart.count + 64 + end.count

    /// Puts head and digest around the fields of `content`, a JSON object.
    static func close(version: Int, content: Data) -> Data {
        var sealed = Data(head)
        sealed.append(contentsOf: "\(version),".utf8)
        sealed.append(content.dropFirst().dropLast())
        let digest = hexDigest(of: sealed)
        sealed.append(contentsOf: digestStart + digest + end)
        return sealed
    }

    /// Tells what `data` is.
    static func open(_ data: Data) -> State {
        let hasHead = data.starts(with: head)
        let tail = Array(data.suffix(tailCount))
        let hasTail = tail.count == tailCount && tail.starts(with: digestStart) && tail.suffix(end.count) == end[...]
        // One of the two is enough to know our own: an accident rarely hits both ends.
        guard hasHead || hasTail else { return isRemnant(data) ? .broken : .unknown }
        guard hasHead, hasTail else { return .broken }
        let digest = tail.dropFirst(digestStart.count).dropLast(end.count)
        return digest == hexDigest(of: data.dropLast(tailCount))[...] ? .intact : .broken
    }

    /// Whether a crash may have left this of a file of ours: cut off within the head, empty at last, or all zeros.
    private static func isRemnant(_ data: Data) -> Bool {
        head.starts(with: data) || data.allSatisfy { $0 == 0 }
    }

    private static func hexDigest(of data: Data) -> [UInt8] {
        Array(Sha256.hash(data).hexadecimal.utf8)
    }
}
