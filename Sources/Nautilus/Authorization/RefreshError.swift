/// Why a ``RefreshCoordinator`` has no credential to give.
public enum RefreshError: Error, Sendable {
    /// Nobody is signed in.
    case signedOut
    /// A refresh failed for good; `underlying` is the ``TerminalRefreshFailure`` it threw.
    case sessionExpired(underlying: any Error)
    /// The refresh that the call waited for failed; the credential is kept and a later call refreshes again.
    case failed(underlying: any Error)
    /// The last refresh failed, as `underlying` says, and the next one may not start yet.
    case coolingDown(remaining: Duration, underlying: any Error)
    /// As many refreshes as the window allows have started: the server rejects what they bring, or they failed for now.
    case tooManyRefreshes(limit: Int, window: Duration)
    /// The refresh took longer than ``RefreshLimits/timeLimit``; should it still succeed, its credential is kept.
    case timedOut(limit: Duration)
    /// Somebody signed in or out meanwhile: the call belongs to a session that is over.
    case superseded
    /// A refresh asked its own coordinator for a credential.
    case recursive
}

extension RefreshError: PrintableError, CustomDebugStringConvertible, CustomReflectable {
    /// What happened, and what to do. Of a foreign error underneath only the type, since its text may hold a secret.
    public var description: String {
        switch self {
        case .signedOut:
            "Nobody is signed in; call signIn(_:) first."
        case .sessionExpired(let underlying):
            "The session has expired (\(Self.summary(of: underlying))); ask the user to sign in again."
        case .failed(let underlying):
            "The credential could not be refreshed (\(Self.summary(of: underlying))); try again later."
        case .coolingDown(let remaining, let underlying):
            "The last refresh failed (\(Self.summary(of: underlying))); the next may start in \(remaining.brief)."
        case .tooManyRefreshes(let limit, let window):
            "\(limit) refreshes have started within \(window.brief), as many as are allowed; try again later, "
                + "and check that the server accepts what a refresh returns."
        case .timedOut(let limit):
            "The refresh took longer than \(limit.brief); try again later."
        case .superseded:
            "Somebody signed in or out while the call was under way; start it again for the present user."
        case .recursive:
            "A refresh asked its own coordinator for a credential; send it through a service without this coordinator."
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows the description: `dump` leaks nothing either.
    public var customMirror: Mirror { Mirror(self, children: ["error": description]) }

    private static func summary(of error: any Error) -> String {
        switch error {
        case let error as any PrintableError: error.description
        default: String(describing: type(of: error))
        }
    }
}
