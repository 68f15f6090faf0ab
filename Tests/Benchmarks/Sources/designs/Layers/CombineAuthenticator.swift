import Dispatch
import OpenCombine

/// An authenticator whose `validToken(forceRefresh:)` returns one shared publisher to all calls that ask during a refresh.
///
/// Known from Donny Wals, "Building a concurrency-proof token refresh flow in Combine", 2020,
/// https://www.donnywals.com/building-a-concurrency-proof-token-refresh-flow-in-combine/.
///
/// The difference: a call that was rejected says `forceRefresh: true`, and not which token was rejected. A 401
/// that comes when the refresh is over forces another one, and a call that asks for a token then waits for it.
// Unchecked: what changes is only touched on the queue.
final class CombineAuthenticator: TokenLayer, @unchecked Sendable {
    static let name = "Combine Authenticator"

    private let world: World
    private let queue = DispatchQueue(label: "CombineAuthenticator")
    private var token: Token
    private var refreshPublisher: AnyPublisher<Token, any Error>?

    init(_ world: World) {
        self.world = world
        self.token = world.server.firstToken
    }

    func get(_ call: Int, completion: @escaping Completion) {
        send(call, with: validToken())
            .tryCatch { error in
                guard error.isUnauthorized else { throw error }
                return self.send(call, with: self.validToken(forceRefresh: true))
            }
            .report(to: completion)
    }

    func validToken(forceRefresh: Bool = false) -> AnyPublisher<Token, any Error> {
        queue.sync {
            if let refreshPublisher { return refreshPublisher }
            if !forceRefresh, !token.hasExpired(at: world.now) {
                return Just(token).setFailureType(to: (any Error).self).eraseToAnyPublisher()
            }
            let publisher = refresh()
            refreshPublisher = publisher
            return publisher
        }
    }

    private func refresh() -> AnyPublisher<Token, any Error> {
        world.refresh(token)
            .handleEvents(
                receiveOutput: { token in self.queue.sync { self.token = token } },
                receiveCompletion: { _ in self.queue.sync { self.refreshPublisher = nil } }
            )
            .share()
            .eraseToAnyPublisher()
    }

    private func send(_ call: Int, with token: AnyPublisher<Token, any Error>) -> AnyPublisher<Void, any Error> {
        token.flatMap { self.world.get(call, with: $0) }.eraseToAnyPublisher()
    }
}
