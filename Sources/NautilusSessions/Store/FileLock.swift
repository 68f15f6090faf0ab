import Foundation
import Nautilus

/// A locked file. The system gives the lock back when the process ends, however it ends.
final class FileLock: CredentialLock {
    private let descriptor: Locked<Int32?>

    /// Keeps the lock that `file` has.
    init(_ file: consuming OpenFile) {
        descriptor = Locked(file.release())
    }

    deinit { unlock() }

    func unlock() {
        let descriptor = self.descriptor.withLock { descriptor in
            defer { descriptor = nil }
            return descriptor
        }
        guard let descriptor else { return }
        // Closing is enough unless a child was forked meanwhile, which shares the open file until it executes another.
        _ = flock(descriptor, LOCK_UN)
        _ = close(descriptor)
    }
}
