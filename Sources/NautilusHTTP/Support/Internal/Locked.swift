#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// A value behind a lock, for the few types that are shared between calls.
///
/// Built on the system's mutex. `Synchronization.Mutex` needs newer systems than this package supports, and the thread
/// sanitizer reports false races on it. Foundation's `NSLock` is the same mutex, but on Linux it takes five blocks of
/// memory where this takes one, and a call makes several locks. Inlinable for the other modules of the package, whose
/// simulations lock a million times a second.
@usableFromInline package struct Locked<Value>: @unchecked Sendable {  // Unchecked: touched under the lock only.
    /// The value, with its mutex in the same block of memory, where it never moves.
    private final class Storage: ManagedBuffer<Value, pthread_mutex_t> {
        deinit {
            _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) }
        }
    }

    @usableFromInline let storage: ManagedBuffer<Value, pthread_mutex_t>

    package init(_ value: sending Value) {
        storage = Storage.create(minimumCapacity: 1) { buffer in
            // Initialization can fail only if memory has run out, and then nothing else works either.
            buffer.withUnsafeMutablePointerToElements { mutex in
                mutex.initialize(to: pthread_mutex_t())
                pthread_mutex_init(mutex, nil)
            }
            return value
        }
    }

    /// Runs `body` with exclusive access to the value. `body` must never call user code or suspend.
    @inlinable package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let (value, mutex) = storage.withUnsafeMutablePointers { ($0, $1) }
        pthread_mutex_lock(mutex)
        // The pointers are valid as long as the storage is alive.
        defer { withExtendedLifetime(storage) { _ = pthread_mutex_unlock(mutex) } }
        return try body(&value.pointee)
    }

    /// Runs `body` with exclusive access to the value, unless that would have to wait.
    ///
    /// - Returns: Nil if any thread holds the lock, the calling thread included.
    package func withLockIfAvailable<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        let (value, mutex) = storage.withUnsafeMutablePointers { ($0, $1) }
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        // The pointers are valid as long as the storage is alive.
        defer { withExtendedLifetime(storage) { _ = pthread_mutex_unlock(mutex) } }
        return try body(&value.pointee)
    }
}
