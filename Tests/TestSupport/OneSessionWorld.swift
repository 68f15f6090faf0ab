import Foundation
import Nautilus
import NautilusHTTP
import NautilusStreams
import NautilusTesting

/// How a session ends.
package enum SessionEnding: CaseIterable, Sendable {
    case signOut, signIn, signOutElsewhere, signInElsewhere, expiry, expiryElsewhere

    /// The error of what began in the session.
    package var error: String {
        switch self {
        case .expiry, .expiryElsewhere: "sessionExpired"
        case .signOut, .signOutElsewhere: "signedOut"
        case .signIn, .signInElsewhere: "superseded"
        }
    }
}

/// The session of one user, and services whose calls belong to it.
package struct OneSessionWorld: SimulatedWorld {
    package let coordinator: RefreshCoordinator<Token>
    package let clock: ManualClock

    package init(_ simulation: Simulated) {
        self.init(simulation, signedIn: Token(number: 1))
    }

    /// - Parameters:
    ///   - token: The user's credential; nil when nobody has signed in yet.
    ///   - expires: Whether a refresh ends the session.
    package init(_ simulation: Simulated, signedIn token: Token? = Token(number: 1), expires: Bool = false) {
        clock = simulation.clock
        coordinator = RefreshCoordinator(credential: token, clock: clock) {
            if expires { throw RefreshError.Terminal("invalid_grant") }
            return Token(number: $0.number + 10)
        }
    }

    /// A service whose calls are authorized by the session, and retried at once.
    package func service(
        _ transport: ScriptedTransport = ScriptedTransport(),
        interceptors: [any HttpInterceptor] = [],
        hook: any ServiceHook = NilServiceHook(),
        sockets: ScriptedWebSocketTransport? = nil
    ) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: .composed(
                AuthorizationRetrier.factory(coordinator),
                BackoffRetrier.factory(.atOnce)
            ),
            transport: transport,
            clock: clock
        ).with {
            ($0.interceptors, $0.hook) = (interceptors, hook)
            if let sockets { $0.webSocketTransport = sockets }
        }
    }

    package func end(_ ending: SessionEnding) async {
        switch ending {
        case .signOut: coordinator.signOut()
        case .signIn: coordinator.signIn(Token(number: 2))
        case .signOutElsewhere: coordinator.adopt(.signedOut, since: coordinator.epoch)
        case .signInElsewhere: coordinator.adopt(.signedIn(Token(number: 2)), since: coordinator.epoch)
        case .expiry:
            // Another call learns of it.
            guard let credential = coordinator.current else { return }
            _ = try? await coordinator.refresh(rejecting: credential)
        case .expiryElsewhere:
            coordinator.adopt(.expired(RefreshError.Terminal("ended there")), since: coordinator.epoch)
        }
    }
}

/// How something ended: the name of its refresh error, "nil" or "value".
package func end(_ work: () async throws -> Any?) async -> String {
    do {
        return try await work() == nil ? "nil" : "value"
    } catch let error as HttpError {
        return switch error.underlying as? RefreshError {
        case .superseded?: "superseded"
        case .sessionExpired?: "sessionExpired"
        case .signedOut?: "signedOut"
        default: "\(error.kind)"
        }
    } catch {
        return "\(error)"
    }
}

extension MessageStream {
    package func next() async throws -> R.Result? {
        var messages = makeAsyncIterator()
        return try await messages.next()
    }
}

/// Whether some work fails since its session has ended.
package func isOfEndedSession(_ work: () async throws -> Any?) async -> Bool {
    do {
        _ = try await work()
        return false
    } catch let error as HttpError {
        return switch error.underlying as? RefreshError {
        case .superseded?, .signedOut?: true
        default: false
        }
    } catch {
        return false
    }
}
