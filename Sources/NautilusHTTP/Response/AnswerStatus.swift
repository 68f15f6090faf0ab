import Foundation

/// The status that counts for an answer, and how long the server asks to wait; see ``Request/status(of:)``.
public struct AnswerStatus: Hashable, Sendable {
    /// The status, in place of the answer's own.
    public var status: Int
    /// How long the server asks to wait, if it says so in the body of a failure. If the header says so, too, the longer
    /// time counts.
    public var retryAfter: Duration?

    /// Creates a status.
    ///
    /// - Parameters:
    ///   - status: The status that counts.
    ///   - retryAfter: How long the server asks to wait. Default: nil, only what the header says.
    public init(_ status: Int, retryAfter: Duration? = nil) {
        (self.status, self.retryAfter) = (status, retryAfter)
    }
}

extension HttpResponse<Data> {
    /// Gives the response the status that counts for it, and what the server asks for in its body. From here on, every
    /// stage treats it as an answer with that status.
    package mutating func count(as counting: AnswerStatus) {
        let wait = counting.status < 400 ? nil : counting.retryAfter.flatMap { $0 > .zero ? $0 : nil }
        guard counting.status != status || wait != nil else { return }
        var header = header
        if let wait { header.addRetryAfter(wait) }
        let hasRetryAfter = header.retryAfter() != nil
        count(as: counting.status, header, Delivery(status: counting.status, hasRetryAfter: hasRetryAfter))
    }
}
