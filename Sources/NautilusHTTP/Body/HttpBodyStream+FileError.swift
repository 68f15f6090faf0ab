import Foundation

extension HttpBodyStream {
    /// Why a file that is sent, or received into, cannot be used.
    ///
    /// It names the file without its folder, which may reveal something about the user.
    public enum FileError: Error, Hashable, Sendable, CustomStringConvertible {
        /// There is no such file, or no such folder.
        case missing(name: String)
        /// The process may not use the file.
        case notPermitted(name: String)
        /// The file is a folder, a pipe or a device.
        case notRegular(name: String)
        /// The file became shorter while it was sent.
        case changed(name: String)
        /// There is no space left on the disk.
        case full(name: String)
        /// A system call failed with `code`, one of `errno`.
        case system(operation: String, name: String, code: Int)

        /// The fault, and its remedy.
        public var description: String {
            switch self {
            case .missing(let name): "“\(name)” is not there, or its folder is not; create it first."
            case .notPermitted(let name): "“\(name)” may not be used by this process; check its permissions."
            case .notRegular(let name): "“\(name)” is a folder or a device; only regular files are sent and written."
            case .changed(let name): "“\(name)” became shorter while it was sent; send a copy that does not change."
            case .full(let name): "There is no room left for “\(name)”; free some and try again."
            case .system(let operation, let name, let code):
                "“\(name)” cannot be used: \(operation) failed, errno \(code)."
            }
        }

        /// Creates an error from `errno`, so it has to come directly after the failed call.
        init(_ operation: String, name: String) {
            self.init(operation, name: name, code: errno)
        }

        init(_ operation: String, name: String, code: Int32) {
            switch code {
            case ENOENT, ENOTDIR: self = .missing(name: name)
            case EACCES, EPERM, EROFS: self = .notPermitted(name: name)
            case EISDIR: self = .notRegular(name: name)
            case ENOSPC, EDQUOT, EFBIG: self = .full(name: name)
            default: self = .system(operation: operation, name: name, code: Int(code))
            }
        }
    }
}
