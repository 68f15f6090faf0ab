import Foundation

/// The session's delegate queue, which is a dispatch queue with the interface of an `OperationQueue`.
///
/// On Linux every callback becomes an operation, which costs as much as sending the request does. Nothing about them
/// is wanted but their order, which the serial queue keeps.
final class DelegateQueue: OperationQueue, @unchecked Sendable {
    // Unchecked, as its superclass is: all it adds is a constant.

    private let serial: DispatchQueue

    init(_ serial: DispatchQueue) {
        self.serial = serial
        super.init()
        underlyingQueue = serial
        maxConcurrentOperationCount = 1
    }

    #if canImport(FoundationNetworking)
        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            serial.async(execute: block)
        }
    #endif
}
