import Foundation

/// Which failures another attempt may mend.
///
/// ``standard`` lists every status and every code of URL loading with its reason; change the lines that your API sees
/// differently:
///
/// ```swift
/// let condition = RetryCondition.standard.retrying(status: 409, because: "the lock is held for a moment")
/// ```
/// Whether the *request* may be repeated is another question, which ``BackoffRetrier`` asks too.
public struct RetryCondition: Sendable {
    /// One line of the table.
    public struct Verdict: Hashable, Sendable {
        /// Whether another attempt makes sense.
        public let isRetryable: Bool
        /// Why, or why not.
        public let reason: String

        static func retry(_ reason: String) -> Verdict { Verdict(isRetryable: true, reason: reason) }
        static func stop(_ reason: String) -> Verdict { Verdict(isRetryable: false, reason: reason) }
    }

    private var statuses: [Int: Verdict]
    private var codes: [URLError.Code: Verdict]
    private var retriesKeysInProgress = false

    /// The condition for most APIs: 408, 425, 429, 500, 502, 503, 504, timeouts, and failures of the network itself.
    public static let standard = RetryCondition(statuses: standardStatuses, codes: standardCodes)

    private init(statuses: [Int: Verdict], codes: [URLError.Code: Verdict]) {
        self.statuses = statuses
        self.codes = codes
    }

    /// This condition, which also retries `status`.
    public func retrying(status: Int, because reason: String) -> RetryCondition {
        var copy = self
        copy.statuses[status] = .retry(reason)
        return copy
    }

    /// This condition, which does not retry `status`.
    public func stopping(status: Int, because reason: String) -> RetryCondition {
        var copy = self
        copy.statuses[status] = .stop(reason)
        return copy
    }

    /// This condition, which also retries `code`.
    public func retrying(code: URLError.Code, because reason: String) -> RetryCondition {
        var copy = self
        copy.codes[code] = .retry(reason)
        return copy
    }

    /// This condition, which does not retry `code`.
    public func stopping(code: URLError.Code, because reason: String) -> RetryCondition {
        var copy = self
        copy.codes[code] = .stop(reason)
        return copy
    }

    /// This condition, which also retries 409 for requests with an `Idempotency-Key`: the attempt before is still being
    /// executed, and its result will be there in a moment. 422, by which a server refuses a key that it knows from
    /// another request, is not retried.
    ///
    /// Not part of ``standard``, since an API may say by 409, to requests with a key as well, that the state is in
    /// conflict, which does not pass.
    ///
    /// Source: draft-ietf-httpapi-idempotency-key-header, "Error Handling".
    public func retryingKeysInProgress() -> RetryCondition {
        var copy = self
        copy.retriesKeysInProgress = true
        return copy
    }

    /// Whether another attempt may mend `error`, and why.
    public func verdict(for error: HttpError) -> Verdict {
        switch error.kind {
        case .status(409) where retriesKeysInProgress && error.request?.hasIdempotencyKey == true:
            .retry("409 Conflict: the attempt before, with the same key, is still in progress")
        case .status(let status): statuses[status] ?? Self.unlisted(status: status)
        case .transport(let code): codes[code] ?? .stop("URLError \(code.rawValue): not known to pass")
        case .timeout: .retry("a silent server may answer the next time")
        case .deadline: .stop("no time is left")
        case .cancelled: .stop("nobody waits for it any more")
        case .invalidRequest: .stop("the same request is built the next time")
        case .redirect: .stop("the server redirects the same way the next time")
        case .responseTooLarge: .stop("the response is as large the next time")
        case .decoding: .stop("the same body decodes the same way")
        case .refused(.circuitOpen): .retry("the circuit lets a request through when its pause is over")
        case .refused(let refusal): .stop("not sent: \(refusal)")
        case .environmentChanged: .stop("the call belongs to the environment that it began in")
        case .authorization: .stop("authorization is not mended by waiting")
        case .custom: .stop("an error of the application")
        }
    }

    private static func unlisted(status: Int) -> Verdict {
        switch status {
        case 300...399: .stop("status \(status): a redirect that is not followed is an answer")
        case 500...599: .stop("status \(status): a server error not known to pass")
        default: .stop("status \(status): the same request gets the same answer")
        }
    }
}
