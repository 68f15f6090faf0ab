import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Why an exchange did not lead to a response.
public enum TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The network, or the protocol on it, failed.
    ///
    /// `code` is URL loading's code for the failure, `delivery` tells how far the request may have got, and `reason` is
    /// for people; it contains no URL and no header.
    case failed(URLError.Code, delivery: Delivery, reason: String)
    /// The body is larger than the transport accepts; `limit` is in bytes.
    case responseTooLarge(limit: Int)

    /// The failure, and its remedy if there is one.
    public var description: String {
        switch self {
        case .failed(let code, _, let reason):
            "\(reason) (URLError \(code.rawValue))"
        case .responseTooLarge(let limit):
            "The response is larger than \(limit) bytes; raise the transport's limit if it should be."
        }
    }

    /// A server may use a transfer coding besides `chunked` only if it was asked for, and what its body says is unknown.
    package static let unrequestedCoding = TransportError.failed(
        .badServerResponse,
        delivery: .maybeExecuted,
        reason: "The answer has a transfer coding that was not asked for (RFC 9112 §6.1)."
    )

    /// The exchange was ended before anything of it was written.
    package static let cancelledUnsent = TransportError.failed(
        .cancelled,
        delivery: .notSent,
        reason: "The exchange was ended before its request was written."
    )
}

extension TransportError {
    /// The failure that `code` stands for, in words of our own.
    ///
    /// - Parameters:
    ///   - code: URL loading's code for the failure.
    ///   - delivery: The delivery, if the transport knows it. Default: nil, the delivery that the code implies.
    public init(_ code: URLError.Code, delivery: Delivery? = nil) {
        self = .failed(code, delivery: delivery ?? code.delivery, reason: code.reason)
    }

    /// The failure of a body stream that could not be collected. Nothing was sent.
    package init(_ error: HttpBodyStream.ReadError) {
        switch error {
        case .alreadyRead:
            let reason = "The body's stream has been read; declare the body with a factory to send it again."
            self = .failed(.requestBodyStreamExhausted, delivery: .notSent, reason: reason)
        case .tooLarge(let limit):
            let reason = "The body's stream is larger than \(limit) bytes; raise the transport's limit if it should be."
            self = .failed(.dataLengthExceedsMaximum, delivery: .notSent, reason: reason)
        }
    }
}
