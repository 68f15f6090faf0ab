import OpenCombine

/// A service whose factory makes a retrier for each request, and each retrier refreshes by itself.
///
/// Known from Squid, https://github.com/borchero/Squid: a retrier answers a failure with a future of yes or no, and the
/// service's header is read again for the next attempt. Retriers share the place where the token is kept.
///
/// The difference: a retrier knows its own request and no other. There are as many
/// refreshes as rejected calls; those that overlap are paid with the same refresh token.
final class SquidRetriers: TokenLayer {
    static let name = "Squid retriers"

    private let world: World
    private let store: TokenStore

    init(_ world: World) {
        self.world = world
        self.store = TokenStore(world.server.firstToken)
    }

    func get(_ call: Int, completion: @escaping Completion) {
        let retrier = RefreshingRetrier(world, store)
        send(call, retrier).report(to: completion)
    }

    /// The framework's part: asks the retrier after a failure, and begins again if it says so.
    private func send(_ call: Int, _ retrier: RefreshingRetrier) -> AnyPublisher<Void, any Error> {
        Deferred { [world, store] in world.get(call, with: store.token) }
            .catch { error in
                retrier.retry(failingWith: error)
                    .flatMap { isRetried in
                        isRetried ? self.send(call, retrier) : Fail(error: error).eraseToAnyPublisher()
                    }
            }
            .eraseToAnyPublisher()
    }
}
