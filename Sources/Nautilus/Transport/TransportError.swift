import Foundation

/// Why an exchange did not lead to a response.
public enum TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The network, or the protocol on it, failed.
    ///
    /// `code` is URL loading's own word for it, `delivery` how far the request may have got, and `reason` is for
    /// people: it names no URL and no header.
    case failed(URLError.Code, delivery: Delivery, reason: String)
    /// The body is larger than the transport takes, in bytes.
    case responseTooLarge(limit: Int)

    /// The failure, and its remedy where there is one.
    public var description: String {
        switch self {
        case .failed(let code, _, let reason):
            "\(reason) (URLError \(code.rawValue))"
        case .responseTooLarge(let limit):
            "The response is larger than \(limit) bytes; raise the transport's limit if it should be."
        }
    }

    /// The exchange was ended before anything of it was written.
    static let cancelledUnsent = TransportError.failed(
        .cancelled,
        delivery: .notSent,
        reason: "The exchange was ended before its request was written."
    )
}
