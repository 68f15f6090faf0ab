import Foundation

/// Which failures another attempt may overcome.
///
/// ``standard`` lists every status and every code of URL loading with its reason; change the lines that your API sees
/// differently:
///
/// ```swift
/// let condition = RetryCondition.standard.retrying(status: 409, because: "the lock is held for a moment")
/// ```
/// Whether the *request* may be repeated is another question, answered by ``HttpError/isSafeToRepeat``;
/// ``BackoffRetrier`` asks both.
public struct RetryCondition: Hashable, Sendable {
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
    private var followsShouldRetry = false

    /// The condition for most APIs: 408, 425, 429, 500, 502, 503, 504, 529, timeouts, and failures of the network
    /// itself.
    public static let standard = RetryCondition(statuses: standardStatuses, codes: standardCodes)

    private init(statuses: [Int: Verdict], codes: [URLError.Code: Verdict]) {
        self.statuses = statuses
        self.codes = codes
    }

    /// Returns this condition, changed to retry `status` as well.
    public func retrying(status: Int, because reason: String) -> RetryCondition {
        var copy = self
        copy.statuses[status] = .retry(reason)
        return copy
    }

    /// Returns this condition, changed not to retry `status`.
    public func stopping(status: Int, because reason: String) -> RetryCondition {
        var copy = self
        copy.statuses[status] = .stop(reason)
        return copy
    }

    /// Returns this condition, changed to retry `code` as well.
    public func retrying(code: URLError.Code, because reason: String) -> RetryCondition {
        var copy = self
        copy.codes[code] = .retry(reason)
        return copy
    }

    /// Returns this condition, changed not to retry `code`.
    public func stopping(code: URLError.Code, because reason: String) -> RetryCondition {
        var copy = self
        copy.codes[code] = .stop(reason)
        return copy
    }

    /// Returns this condition, changed to retry 409 as well for requests with an `Idempotency-Key`: the previous
    /// attempt is still being executed, and its result will be there in a moment. 422, by which a server refuses a key
    /// that it knows from another request, is not retried.
    ///
    /// Not part of ``standard``, since an API may also use 409, even for requests with a key, for a conflict of the
    /// state, which does not pass.
    ///
    /// Source: draft-ietf-httpapi-idempotency-key-header, "Error Handling".
    public func retryingKeysInProgress() -> RetryCondition {
        var copy = self
        copy.retriesKeysInProgress = true
        return copy
    }

    /// Returns this condition, changed to follow `x-should-retry`, by which the servers of OpenAI and Anthropic say
    /// whether another attempt makes sense: `false` stops for any status, `true` retries any status.
    ///
    /// Whether the request may be repeated is not the field's to say: one that may have been executed is not sent again
    /// unless it is safe to repeat. Not part of ``standard``, since other servers may mean something else by it.
    public func followingShouldRetry() -> RetryCondition {
        var copy = self
        copy.followsShouldRetry = true
        return copy
    }

    /// Whether another attempt may overcome `error`, and why. A feed that has been open (``HttpError/isReconnect``) goes
    /// on after any server error except 501, after 401, and after refusals on this side.
    public func verdict(for error: HttpError) -> Verdict {
        if case .status = error.kind, followsShouldRetry, let shouldRetry = error.shouldRetry {
            return shouldRetry
                ? .retry("x-should-retry: true: the server expects a repetition")
                : .stop("x-should-retry: false: the server expects no repetition")
        }
        if error.isReconnect, let verdict = reconnectVerdict(for: error) { return verdict }
        return switch error.kind {
        case .transport where error.isUnansweredByLoopbackTls, .timeout where error.isUnansweredByLoopbackTls:
            .stop("TLS did not answer on this machine: the server does not speak it")
        case .status(409) where retriesKeysInProgress && error.request?.hasIdempotencyKey == true:
            .retry("409 Conflict: the attempt before, with the same key, is still in progress")
        case .status(let status): statuses[status] ?? Self.unlisted(status: status)
        case .transport(let code): codes[code] ?? .stop("URLError \(code.rawValue): not known to pass")
        case .timeout: .retry("a silent server may answer the next time")
        case .deadline: .stop("no time is left")
        case .cancelled: .stop("the caller no longer waits for it")
        case .invalidRequest: .stop("building it again would fail the same way")
        case .redirect: .stop("the server redirects the same way the next time")
        case .responseTooLarge: .stop("the response is as large the next time")
        case .decoding: .stop("the same body decodes the same way")
        case .refused(.circuitOpen): .retry("the circuit lets a request through when its pause is over")
        case .refused(let refusal): .stop("not sent: \(refusal)")
        case .environmentChanged: .stop("the call belongs to the environment that it began in")
        case .authorization: .stop(error.cause ?? "waiting does not fix authorization")
        case .custom: .stop("thrown by your code")
        }
    }

    /// The verdict for a feed that has been open, if it differs: only an answer by which the server means it ends a feed.
    /// A status whose line was changed keeps that line.
    private func reconnectVerdict(for error: HttpError) -> Verdict? {
        switch error.kind {
        case .status(let status) where statuses[status] == Self.standardStatuses[status]:
            if status == 401 { return .retry("401 Unauthorized: the next connection brings a fresh credential") }
            guard (500...599).contains(status), status != 501 else { return nil }
            return .retry("status \(status): the server's failure, however long it lasts, does not end a feed")
        case .refused: return .retry("held back on this side: that counts as waiting")
        case .deadline: return .retry("the next connection has time of its own")
        case .authorization where error.isTransient || error.canRefreshLater:
            return .retry("the credential can be refreshed later")
        case .custom:
            // A header that another call has to bring, as during the same outage.
            guard var inner = error.underlying as? HttpError else { return nil }
            inner.isReconnect = true
            let verdict = verdict(for: inner)
            return verdict.isRetryable ? verdict : nil
        default: return nil
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

extension HttpError {
    /// The value of the answer's `x-should-retry`; nil if it has none.
    fileprivate var shouldRetry: Bool? {
        let values = (response?.header.values(of: "x-should-retry") ?? [])
            .flatMap { $0.lowercased().split(separator: ",").map(\.trimmingBlanks) }
        if values.contains("false") { return false }
        return values.contains("true") ? true : nil
    }
}

extension RetryCondition {
    /// The verdicts for statuses that have a reason of their own; for the others, the class decides.
    static let standardStatuses: [Int: Verdict] = [
        400: .stop("400 Bad Request: the request itself is wrong"),
        401: .stop("401 Unauthorized: waiting does not fix a rejected credential"),
        402: .stop("402 Payment Required: a person has to act"),
        403: .stop("403 Forbidden: the credential is known and does not suffice"),
        404: .stop("404 Not Found"),
        405: .stop("405 Method Not Allowed: the request itself is wrong"),
        406: .stop("406 Not Acceptable: the request itself is wrong"),
        407: .stop("407 Proxy Authentication Required: waiting does not fix a missing credential"),
        408: .retry("408 Request Timeout: the server gave up waiting, and expects a repetition (RFC 9110 §15.5.9)"),
        409: .stop("409 Conflict: the state has to be resolved first"),
        410: .stop("410 Gone: for good"),
        411: .stop("411 Length Required: the request itself is wrong"),
        412: .stop("412 Precondition Failed: the precondition stays false"),
        413: .stop("413 Content Too Large: as large the next time"),
        414: .stop("414 URI Too Long: as long the next time"),
        415: .stop("415 Unsupported Media Type: the request itself is wrong"),
        416: .stop("416 Range Not Satisfiable: the range stays out of bounds"),
        417: .stop("417 Expectation Failed: the request itself is wrong"),
        421: .stop("421 Misdirected Request: the same connection leads to the same server"),
        422: .stop("422 Unprocessable Content: the content stays wrong"),
        423: .stop("423 Locked: the answer does not say for how long"),
        424: .stop("424 Failed Dependency: another request failed"),
        425: .retry("425 Too Early: the server asks for a repetition without early data (RFC 8470 §5.2)"),
        426: .stop("426 Upgrade Required: another protocol is needed"),
        428: .stop("428 Precondition Required: the request itself is wrong"),
        429: .retry("429 Too Many Requests: passes with time (RFC 6585 §4)"),
        431: .stop("431 Request Header Fields Too Large: as large the next time"),
        451: .stop("451 Unavailable For Legal Reasons: not a matter of seconds"),
        500: .retry("500 Internal Server Error: often one instance, or one moment"),
        501: .stop("501 Not Implemented: not a matter of seconds"),
        502: .retry("502 Bad Gateway: an instance behind the gateway is going or coming"),
        503: .retry("503 Service Unavailable: temporary by definition (RFC 9110 §15.6.4)"),
        504: .retry("504 Gateway Timeout: an instance behind the gateway was slow"),
        505: .stop("505 HTTP Version Not Supported: the request itself is wrong"),
        506: .stop("506 Variant Also Negotiates: a fault of the server's configuration"),
        507: .stop("507 Insufficient Storage: a person has to act"),
        508: .stop("508 Loop Detected: a fault of the resource itself"),
        510: .stop("510 Not Extended: the request itself is wrong"),
        511: .stop("511 Network Authentication Required: a person has to log in to the network"),
        529: .retry("529 Overloaded: passes with time, like a 503"),
    ]
}

extension RetryCondition {
    /// The verdicts for every code of URL loading, each with its reason.
    static let standardCodes: [URLError.Code: Verdict] = [
        // The network: passes by itself.
        .cannotConnectToHost: .retry("connection refused: the server may be restarting"),
        .cannotFindHost: .retry("no such host: name servers fail for moments"),
        .dnsLookupFailed: .retry("name lookup failed: name servers fail for moments"),
        .networkConnectionLost: .retry("connection lost: a new one may hold"),
        .notConnectedToInternet: .retry("no connection: it may come back"),
        .timedOut: .retry("timed out: the next exchange may not"),
        .badServerResponse: .retry("an empty or broken answer: a connection closed too early looks like this"),
        .cannotLoadFromNetwork: .retry("the network was not used: it may be the next time"),
        .callIsActive: .retry("a phone call holds the radio: it ends"),
        .internationalRoamingOff: .retry("roaming is off: the device may find another network"),
        .dataNotAllowed: .retry("no mobile data: the device may find another network"),
        .unknown: .retry("an unknown failure of the network: most pass"),
        .backgroundSessionWasDisconnected: .retry("the background session lost its host: it reconnects"),

        // The request: the same the next time.
        .badURL: .stop("the URL is wrong"),
        .unsupportedURL: .stop("the URL's scheme is not supported"),
        .dataLengthExceedsMaximum: .stop("the response is as large the next time"),
        .requestBodyStreamExhausted: .stop("the body has been read"),
        .appTransportSecurityRequiresSecureConnection: .stop("the system requires https"),
        .fileDoesNotExist: .stop("the file does not exist"),
        .fileIsDirectory: .stop("the file is a directory"),
        .noPermissionsToReadFile: .stop("the file is not readable"),

        // The server's identity: retrying would hand the request to any host that answers.
        .secureConnectionFailed: .stop("TLS failed: a matter of configuration, or of an attack"),
        .serverCertificateHasBadDate: .stop("the server's certificate has expired, or is not yet valid"),
        .serverCertificateUntrusted: .stop("the server's certificate is not trusted"),
        .serverCertificateHasUnknownRoot: .stop("the server's certificate has an unknown root"),
        .serverCertificateNotYetValid: .stop("the server's certificate is not yet valid"),
        .clientCertificateRejected: .stop("the client's certificate was rejected"),
        .clientCertificateRequired: .stop("the server requires a client certificate"),

        // The answer: the server means it.
        .cancelled: .stop("the caller no longer waits for it"),
        .userCancelledAuthentication: .stop("the caller no longer waits for it"),
        .userAuthenticationRequired: .stop("waiting does not fix a missing credential"),
        .httpTooManyRedirects: .stop("the server redirects the same way the next time"),
        .redirectToNonExistentLocation: .stop("the server redirects the same way the next time"),
        .resourceUnavailable: .stop("the resource is not available"),
        .zeroByteResource: .stop("the server answers with nothing where something was promised"),
        .cannotDecodeRawData: .stop("the same bytes decode the same way"),
        .cannotDecodeContentData: .stop("the same bytes decode the same way"),
        .cannotParseResponse: .stop("the same bytes parse the same way"),

        // The disk, and background sessions: not a matter of the network.
        .cannotCreateFile: .stop("the disk refuses the file"),
        .cannotOpenFile: .stop("the disk refuses the file"),
        .cannotCloseFile: .stop("the disk refuses the file"),
        .cannotWriteToFile: .stop("the disk refuses the file"),
        .cannotRemoveFile: .stop("the disk refuses the file"),
        .cannotMoveFile: .stop("the disk refuses the file"),
        .downloadDecodingFailedMidStream: .stop("the same bytes decode the same way"),
        .downloadDecodingFailedToComplete: .stop("the same bytes decode the same way"),
        .backgroundSessionInUseByAnotherProcess: .stop("another process uses the background session"),
        .backgroundSessionRequiresSharedContainer: .stop("the background session needs a shared container"),
    ]
}
