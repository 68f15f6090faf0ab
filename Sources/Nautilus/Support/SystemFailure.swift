import Foundation

/// A system call that failed, before it is known what that means for the data to be stored.
package struct SystemFailure: Error, Hashable {
    package let operation: String
    package let code: Int32

    /// Reads `errno`, so it has to be the first thing after the call.
    package init(_ operation: String) {
        self.init(operation, code: errno)
    }

    package init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }
}
