import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension TransportError {
    /// The failure that `code` stands for, in words of our own.
    ///
    /// - Parameters:
    ///   - code: URL loading's word for it.
    ///   - delivery: The delivery, where a transport knows it. Default: nil, the code's own.
    public init(_ code: URLError.Code, delivery: Delivery? = nil) {
        self = .failed(code, delivery: delivery ?? code.delivery, reason: code.reason)
    }

    /// The failure of a body stream that could not be collected. Nothing was sent.
    init(_ error: HttpBodyStream.ReadError) {
        switch error {
        case .alreadyRead:
            let reason = "The body's stream has been read; declare the body with a factory to send it again."
            self = .failed(.requestBodyStreamExhausted, delivery: .notSent, reason: reason)
        case .tooLarge(let limit):
            let reason = "The body's stream is larger than \(limit) bytes; raise the transport's limit if it should be."
            self = .failed(.dataLengthExceedsMaximum, delivery: .notSent, reason: reason)
        }
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
