/// A coordinator's knowledge of its session; ``RefreshMachine`` alone changes it.
enum RefreshState: Sendable {
    /// No credential: nobody is signed in, or a refresh failed for good with this error and nobody has signed in since.
    case signedOut(expiredBy: (any Error)?)
    /// A credential, and no refresh under way.
    case idle(HeldCredential)
    /// A refresh is in flight, in the background if the credential still serves.
    case refreshing(HeldCredential, RefreshFlight)
    /// The last refresh failed; an overdue one may still be running.
    case coolingDown(HeldCredential, RefreshCoolDown)

    /// The credential that is held, and what is known of it; nil when nobody is signed in.
    var held: HeldCredential? {
        switch self {
        case .signedOut: nil
        case .idle(let held), .refreshing(let held, _), .coolingDown(let held, _): held
        }
    }

    /// The refresh that holds the slot, either in flight or overdue and not known to have ended; nil when there is
    /// none.
    var flight: RefreshFlight? {
        switch self {
        case .signedOut, .idle: nil
        case .refreshing(_, let flight): flight
        case .coolingDown(_, let coolDown): coolDown.overdue?.flight
        }
    }

    /// How many refreshes have failed in a row.
    var failures: Int {
        switch self {
        case .signedOut, .idle: 0
        case .refreshing(_, let flight): flight.failures
        case .coolingDown(_, let coolDown): coolDown.failures
        }
    }

    /// Whether a refresh is in flight, even in the background.
    var isRefreshing: Bool {
        if case .refreshing = self { true } else { false }
    }

    /// Whether retries have to wait: a refresh is in flight, and the credential does not serve until it ends.
    func holdsRetries(at now: Duration) -> Bool {
        guard case .refreshing(let held, _) = self else { return false }
        return !held.serves(at: now)
    }
}

/// The present credential, and how long it serves. Its session is a `CallSession`, which ``versioned`` names.
struct HeldCredential: Sendable {
    /// The present credential with its generation.
    var versioned: ErasedVersionedCredential
    /// When the credential expires; nil for never.
    var expiry: CredentialExpiry?
    /// Whether the server has rejected this very credential.
    var isRejected = false

    /// Whether calls may be sent with the credential.
    func serves(at now: Duration) -> Bool {
        guard !isRejected else { return false }
        return expiry.map { now < $0.end } ?? true
    }

    /// The credential that replaces it in the same session.
    func next(_ versioned: ErasedVersionedCredential, expiry: CredentialExpiry?) -> HeldCredential {
        HeldCredential(versioned: versioned, expiry: expiry)
    }

    /// Whether it is time to refresh in the background.
    func isDue(at now: Duration) -> Bool {
        expiry.map { now >= $0.leewayStart } ?? false
    }
}

/// When a credential stops serving, on the coordinator's stopwatch.
struct CredentialExpiry: Hashable, Sendable {
    /// From this time the credential is refreshed in the background.
    let leewayStart: Duration
    /// From this time the credential no longer serves.
    let end: Duration

    init(receivedAt now: Duration, lifetime: Duration, limits: RefreshLimits) {
        end = now + lifetime.clampedToCentury
        leewayStart = end - limits.leeway(forLifetime: lifetime)
    }
}

/// One refresh, as the machine knows it.
struct RefreshFlight: Hashable, Sendable {
    /// The refresh's number, never repeated.
    let id: Int
    /// The generation that the refresh replaces; its result counts only while that generation is the present one.
    let generation: Int
    /// How many refreshes failed in a row before it.
    let failures: Int
    /// The cool-down before it; zero when it does not follow a failure.
    let previousCoolDown: Duration
}

/// The time after a failed refresh during which no other starts.
struct RefreshCoolDown: Sendable {
    /// A refresh that ran into its time limit and has not ended.
    struct Overdue: Sendable {
        let flight: RefreshFlight
        /// When the slot is freed even if the refresh has not ended.
        let freedAt: Duration
    }

    /// When the cool-down ends, regardless of an overdue refresh.
    let end: Duration
    /// How long the whole cool-down is.
    let length: Duration
    /// How many refreshes have failed in a row.
    let failures: Int
    /// Why the last refresh failed.
    let cause: any Error
    /// Whether the next refresh may succeed without any change, so that calls wait for it.
    let isTransient: Bool
    /// The refresh that still holds the slot; nil when it is known to have ended.
    var overdue: Overdue?
}

// MARK: - The credential, without its type

/// A credential that is passed on without being read.
///
/// The machine and everything else that the lock guards never read the content. Without its type they need not be
/// generic: unspecialized generic code would make ``RefreshCoordinator/current`` ten times as slow.
protocol ErasedCredential: AnyObject, Sendable {}

/// Holds a credential of any type behind one reference.
final class CredentialBox<Credential: Sendable>: ErasedCredential {
    let credential: Credential

    init(_ credential: Credential) {
        self.credential = credential
    }
}

/// A credential of whichever type with its lifetime, which counts from now; nil when it has no end.
struct ReceivedCredential: Sendable {
    let credential: any ErasedCredential
    let lifetime: Duration?
}

/// A credential of whichever type with its generation and its session.
struct ErasedVersionedCredential: Sendable {
    let credential: any ErasedCredential
    let generation: Int
    /// The session that the credential belongs to.
    let session: CallSession
}

extension ErasedCredential {
    /// The credential inside; `type` must be the type it had when its type was erased.
    func restored<Credential: Sendable>(as type: Credential.Type) -> Credential {
        guard let box = self as? CredentialBox<Credential> else {
            // A coordinator makes boxes of its own type only, and reads no other coordinator's.
            preconditionFailure("a credential of another type")
        }
        return box.credential
    }
}
