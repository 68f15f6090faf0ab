import Foundation
import Nautilus

/// Why a ``Session`` cannot do what it was asked for. The cause is its store, another process, or the server that
/// should forget a credential. Errors of a refresh are those that its ``SessionRules`` throw.
public struct SessionError: RefreshFailure, Sendable {
    /// The kind of a failure.
    public enum Kind: Hashable, Sendable {
        /// The store failed.
        case store(CredentialStoreError)
        /// Another process has held the store's lock for longer than this one waits.
        case lockTimeout(Duration)
        /// The store's lock was lost before the change that it protects could be saved: the system has suspended the
        /// process, or somebody has removed the lock's file.
        case lockLost
        /// The store has not answered for this long, and is no longer waited for; what was asked of it may still
        /// happen. A sign-in, a sign-out and ``Session/flush()`` throw this within three minutes by default.
        case storeTimeout(Duration)
        /// The user signed out, or another sign-in came first, here or in another process.
        case superseded
        /// Another process has learnt from the server that the session is over.
        case expired
        /// The user is signed out, and the server could not be asked to forget the credential; the error is underneath.
        case notRevoked
        /// The task that waited for the result was cancelled.
        case cancelled
    }

    /// The kind of failure.
    public let kind: Kind
    /// The underlying error, for ``Kind/notRevoked``; nil when no answer came within a minute, and for all other kinds.
    public let underlying: (any Error)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - kind: The kind of failure.
    ///   - underlying: The underlying error. Default: nil, none.
    public init(_ kind: Kind, underlying: (any Error)? = nil) {
        self.kind = kind
        self.underlying = underlying
    }

    /// Whether the same request may succeed later by itself: another process held the lock, the lock was lost, the
    /// store was slow, or the server was out of reach.
    public var isTransient: Bool {
        switch kind {
        case .lockTimeout, .lockLost, .storeTimeout: true
        case .notRevoked: underlying.map { ($0 as? any RefreshFailure)?.isTransient ?? false } ?? true
        case .store, .superseded, .expired, .cancelled: false
        }
    }

    /// How long the server asks the caller to wait; nil when it does not say.
    public var retryAfter: Duration? { (underlying as? any RefreshFailure)?.retryAfter }
}

extension SessionError: WrappingError {
    package var wrapped: (any Error)? { underlying }
}

extension SessionError: PrintableError, Redacted, LocalizedError {
    /// The failure, and what to do about it. Shows only the type of a foreign underlying error, since its text may hold
    /// a secret.
    public var description: String {
        switch kind {
        case .store(let error):
            "The credential store failed: \(error)"
        case .lockTimeout(let limit):
            "Another process has held the credential's lock for more than \(limit.brief); try again later."
        case .lockLost:
            "The credential's lock was lost while it was held; try again, and let nobody remove its file."
        case .storeTimeout(let limit):
            "The credential store has not answered for \(limit.brief); see why it hangs, and try again later."
        case .superseded:
            "Somebody has signed in or out meanwhile; start the call again for the present user."
        case .expired:
            "Another process has learnt that the session is over; ask the user to sign in again."
        case .notRevoked:
            "The user is signed out, but the server was not told (\(summary)); it is tried again if that can help."
        case .cancelled:
            "Nobody waits for the credential any more."
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    private var summary: String {
        switch underlying {
        case let error as any PrintableError: error.description
        case let error?: "\(type(of: error))"
        case nil: "it did not answer in time"
        }
    }
}

/// An event of a ``Session``, for the user interface. It carries generations, never a credential.
public enum SessionEvent: Sendable {
    /// Somebody has signed in, here or in another process, or was found signed in at the start. The credential has this
    /// generation.
    case signedIn(generation: Int)
    /// A fresh credential with this generation, refreshed here or by another process.
    case refreshed(generation: Int)
    /// The refresh of this generation failed for now. The credential is kept, and a later call tries again.
    case refreshFailed(generation: Int, RefreshError)
    /// The session is over: ask the user to sign in. Sent once.
    case sessionExpired(generation: Int, RefreshError)
    /// The user has signed out, here or in another process. This generation was the last.
    case signedOut(generation: Int)
    /// The store fails to save or to load. The session goes on with what is in memory, and saving is tried again. Sent
    /// once until the store works again.
    case storeFailed(SessionError)
    /// The store works again, and everything is saved.
    case storeRecovered

    init(_ event: RefreshEvent) {
        self =
            switch event {
            case .signedIn(let generation): .signedIn(generation: generation)
            case .refreshed(let generation): .refreshed(generation: generation)
            case .refreshFailed(let generation, let error): .refreshFailed(generation: generation, error)
            case .sessionExpired(let generation, let error): .sessionExpired(generation: generation, error)
            case .signedOut(let generation): .signedOut(generation: generation)
            }
    }

    /// Whether somebody is signed in after the event; nil for an event that does not tell.
    var isSignedIn: Bool? {
        switch self {
        case .signedIn, .refreshed, .refreshFailed: true
        case .sessionExpired, .signedOut: false
        case .storeFailed, .storeRecovered: nil
        }
    }
}
