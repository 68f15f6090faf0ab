import Foundation
import Nautilus
import NautilusOAuth
import NotesAPI

/// Explains every failure to the person at the keyboard, and what to do about it.
extension NotesAccount {
    var notSignedIn: Complaint {
        Complaint(.signedOut, "not signed in to \(server); run \(command("login"))")
    }

    /// A failed call.
    func complaint(_ error: NotesError) -> Complaint {
        let failure = error.httpError
        var complaint =
            switch failure.underlying {
            case let cause as RefreshError: complaint(cause)
            case let cause as OAuthError: complaint(cause)
            case let cause as SessionError: complaint(cause)
            default: complaint(error.reason, failure)
            }
        complaint.traces.insert(failure.trace, at: 0)
        return complaint
    }

    private func complaint(_ reason: NotesError.Reason, _ failure: HttpError) -> Complaint {
        switch reason {
        case .notFound: Complaint(.failure, "\(server) has no such note")
        case .signedOut: Complaint(.signedOut, "\(server) does not accept the sign-in; run \(command("login"))")
        case .forbidden: Complaint(.signedOut, "\(server) does not allow this to whoever is signed in")
        case .unavailable, .offline: unreachable(failure)
        case .cancelled: Complaint(.stopped, "stopped before the server had answered")
        case .unexpected: Complaint(.failure, "\(server) does not answer as a notes server does (\(failure.kind))")
        }
    }

    private func complaint(_ error: RefreshError) -> Complaint {
        switch error {
        case .signedOut: notSignedIn
        case .sessionExpired: Complaint(.signedOut, "the sign-in to \(server) is over; run \(command("login"))")
        case .superseded: Complaint(.signedOut, "somebody else signed in meanwhile; run this again")
        case .failed(_, let cause as OAuthError): complaint(cause)
        case .coolingDown(_, let cause as OAuthError): complaint(cause)
        case .failed(_, let cause as SessionError): complaint(cause)
        case .coolingDown(_, let cause as SessionError): complaint(cause)
        default: Complaint(.unavailable, "the sign-in cannot be refreshed at present; try again later")
        }
    }

    /// Explains an error of the session's store, or one that another process has caused.
    func complaint(_ error: SessionError) -> Complaint {
        switch error.kind {
        case .store(let cause): complaint(cause)
        case .lockTimeout:
            Complaint(.unavailable, "another process has been refreshing the sign-in for too long; try again later")
        case .lockLost, .storeTimeout: Complaint(.store, error.description)
        case .superseded: Complaint(.signedOut, "somebody signed in or out meanwhile; run this again")
        case .expired: Complaint(.signedOut, "the sign-in to \(server) is over; run \(command("login"))")
        case .notRevoked:
            (error.underlying as? OAuthError).map(complaint)
                ?? Complaint(.unavailable, "\(server) is out of reach; try again later")
        case .cancelled: Complaint(.stopped, "stopped before the server had answered")
        }
    }

    /// A failed sign-in, refresh or revocation.
    func complaint(_ error: OAuthError) -> Complaint {
        var complaint =
            switch error.kind {
            case .invalidGrant, .noRefreshToken:
                Complaint(.signedOut, "the sign-in to \(server) is over; run \(command("login"))")
            case .accessDenied:
                Complaint(.signedOut, "the access was declined; run \(command("login")) to ask again")
            case .deviceCodeExpired:
                Complaint(.signedOut, "nobody entered the code in time; run \(command("login")) for a new one")
            case .insufficientScope(let scope):
                Complaint(
                    .signedOut,
                    "this needs the scope \(scope); run \(command("login")), which asks for everything"
                )
            case .insufficientAuthentication:
                Complaint(.signedOut, "this needs you to sign in again, or in another way; run \(command("login"))")
            case .unavailable:
                error.httpError.map(unreachable)
                    ?? Complaint(.unavailable, "\(server) is out of reach; try again later")
            case .answerLost:
                Complaint(.unavailable, "\(server) took the request and did not answer; run this again")
            case .issuerMismatch:
                Complaint(.usage, "\(server) calls itself by another address; give the one that it prints")
            case .insecureUrl:
                Complaint(.usage, "secrets do not go to \(server): use https")
            case .malformedReply(let reason):
                Complaint(.failure, "\(server) does not answer as a notes server does (\(reason)); check the address")
            case .cancelled:
                Complaint(.stopped, "stopped before the server had answered")
            case .misconfigured, .stateMismatch, .noEndpoint, .invalidParameter:
                Complaint(.failure, OAuthError(error.kind).description)
            }
        if let trace = error.httpError?.trace { complaint.traces.append(trace) }
        return complaint
    }

    private func unreachable(_ failure: HttpError) -> Complaint {
        switch failure.kind {
        case .transport(.cannotConnectToHost):
            Complaint(.unavailable, "nothing listens at \(server); check the address, and that the server runs")
        case .transport(.cannotFindHost), .transport(.dnsLookupFailed):
            Complaint(.unavailable, "there is no host of the name in \(server); check the address")
        case .status(let status):
            Complaint(.unavailable, "\(server) is overloaded or down (status \(status)); try again later")
        default:
            Complaint(.unavailable, "\(server) is out of reach (\(failure.kind)); try again later")
        }
    }
}
