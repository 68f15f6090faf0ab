import Foundation

/// The session's delegate queue.
///
/// On Linux it runs every callback at once, on the session's own queue, which calls them one after the other: as an
/// operation, or handed to another queue, each of the three callbacks of an exchange wakes a thread, and together they
/// cost as much as sending the request does. On Apple's platforms it is an ordinary queue on top of `serial`.
///
/// Nothing that a callback does may therefore wait for the session, which starting and cancelling a task do.
final class DelegateQueue: OperationQueue, @unchecked Sendable {  // Unchecked: as its superclass is; it adds nothing.
    init(_ serial: DispatchQueue) {
        super.init()
        underlyingQueue = serial
        maxConcurrentOperationCount = 1
    }

    #if canImport(FoundationNetworking)
        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            block()
        }
    #endif
}
