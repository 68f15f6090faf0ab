import Nautilus

/// The cause of a retry.
enum RetryCause: String, CaseIterable, Sendable {
    case credentialReplaced = "credential_replaced"
    case backoff
    case retryAfter = "retry_after"
    case originPause = "origin_pause"
    case other

    init(_ reason: RetryReason?) {
        switch reason {
        case .credentialReplaced: self = .credentialReplaced
        case .backoff: self = .backoff
        case .retryAfter: self = .retryAfter
        case .gate: self = .originPause
        default: self = .other
        }
    }

    var label: String {
        switch self {
        case .credentialReplaced: "with a new token"
        case .backoff: "after backoff"
        case .retryAfter: "after Retry-After"
        case .originPause: "after the server's pause"
        case .other: "for other reasons"
        }
    }
}
