@_exported import Glibc

// The parts of Darwin's C library that Glibc calls otherwise, or lacks. Foundation brings it along there.

/// Asks a drive to write its own cache to the disk (`fcntl`).
package let F_FULLFSYNC: Int32 = 51

extension stat {
    package var st_mtimespec: timespec { st_mtim }
    package var st_ctimespec: timespec { st_ctim }
}
