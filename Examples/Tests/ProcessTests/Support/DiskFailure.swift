import Foundation
import SessionCommands
import Testing

/// How a disk fails, and what a session tells of it.
struct DiskFailure: Sendable, CustomTestStringConvertible {
    let name: String
    private let call: SessionFault.SystemCall
    private let code: Int32
    private let path: SessionFault.PathEnding
    /// The names of the error.
    let kinds: [String]

    var testDescription: String { name }

    /// A save is a `write`, an `fsync` and a `rename` of a new file that is opened first.
    static let all = [
        DiskFailure("full", .write, ENOSPC, .temporary, ["store", "full"]),
        DiskFailure("over quota when it is synchronised", .fsync, EDQUOT, .temporary, ["store", "full"]),
        DiskFailure("broken", .fsync, EIO, .temporary, ["store", "system fsync \(EIO)"]),
        DiskFailure("read-only", .open, EROFS, .temporary, ["store", "notPermitted"]),
        DiskFailure("in a folder that must not be changed", .rename, EACCES, .credential, ["store", "notPermitted"]),
    ]

    static let full = all[0]

    private init(
        _ name: String,
        _ call: SessionFault.SystemCall,
        _ code: Int32,
        _ path: SessionFault.PathEnding,
        _ kinds: [String]
    ) {
        self.name = name
        self.call = call
        self.code = code
        self.path = path
        self.kinds = kinds
    }

    /// The event of a session.
    var event: String { (["storeFailed"] + kinds).joined(separator: " ") }

    /// The order to fail.
    ///
    /// - Parameters:
    ///   - save: The number of the first save that fails; of a refresh, the first is the mark, the second the result.
    ///   - count: How many fail. Default: nil, all until the disk is mended.
    func plan(fromSave save: Int, count: Int? = nil) -> SessionCommand {
        .plan(.system(call, .failure(code), on: path, from: save, count: count))
    }
}
