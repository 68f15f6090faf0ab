import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension TransportError {
    /// The failure that `code` stands for, in words of our own.
    init(_ code: URLError.Code) {
        self = .failed(code, delivery: code.delivery, reason: code.reason)
    }

    /// The failure that Foundation reports.
    init(_ error: any Error) {
        guard let error = error as? URLError else {
            self.init(.unknown)
            return
        }
        #if canImport(FoundationNetworking)
            self.init(LibcurlMessage(error.localizedDescription).code(reportedAs: error.code))
        #else
            self.init(error.code)
        #endif
    }
}
