import Foundation
import NautilusTesting
import TestSupport

@testable import Nautilus
@testable import NautilusStreams

/// How a session ends.
enum SessionEnding: CaseIterable, Sendable {
    case signOut, signIn, signOutElsewhere, signInElsewhere, expiry, expiryElsewhere

    /// The error of what began in the session.
    var error: String {
        switch self {
        case .expiry, .expiryElsewhere: "sessionExpired"
        case .signOut, .signIn, .signOutElsewhere, .signInElsewhere: "superseded"
        }
    }
}

struct SessionEndWorld {
    let coordinator: RefreshCoordinator<Token>
    let clock: ManualClock

    init(_ simulation: Simulated) {
        clock = simulation.clock
        coordinator = RefreshCoordinator(credential: Token(number: 1), clock: clock) { _ in
            throw TerminalRefreshFailure("invalid_grant")
        }
    }

    func service(
        _ transport: ScriptedTransport = ScriptedTransport(),
        sockets: ScriptedWebSocketTransport? = nil
    ) -> AnyHttpService<HttpError> {
        coordinator.service(transport, clock).with {
            if let sockets { $0.webSocketTransport = sockets }
        }
    }

    func end(_ ending: SessionEnding) async {
        switch ending {
        case .signOut: coordinator.signOut()
        case .signIn: coordinator.signIn(Token(number: 2))
        case .signOutElsewhere: coordinator.adopt(.signedOut, since: coordinator.epoch)
        case .signInElsewhere: coordinator.adopt(.signedIn(Token(number: 2)), since: coordinator.epoch)
        case .expiry:
            // Another call learns of it.
            guard let grant = coordinator.current else { return }
            _ = try? await coordinator.refresh(rejecting: grant)
        case .expiryElsewhere:
            coordinator.adopt(.expired(TerminalRefreshFailure("ended there")), since: coordinator.epoch)
        }
    }
}

/// How something ended: the name of its refresh error, "nil" or "value".
func end(_ work: () async throws -> Any?) async -> String {
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
    func next() async throws -> R.Result? {
        var messages = makeAsyncIterator()
        return try await messages.next()
    }
}

extension RefreshCoordinator<Token> {
    /// A service whose calls are authorized by this coordinator, and retried at once.
    func service(_ transport: ScriptedTransport, _ clock: ManualClock) -> AnyHttpService<HttpError> {
        AnyHttpService(
            apiUrl: "api.example.com",
            retrierFactory: ComposedRetrier.factory(
                AuthorizationRetrier.factory(self),
                BackoffRetrier.factory(.atOnce)
            ),
            transport: transport,
            clock: clock
        )
    }
}
