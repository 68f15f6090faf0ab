import OpenCombine

/// The retrier that an app writes: on a 401, once, get a token and say yes.
final class RefreshingRetrier {
    private let world: World
    private let store: TokenStore
    private var hasRefreshed = false

    init(_ world: World, _ store: TokenStore) {
        self.world = world
        self.store = store
    }

    func retry(failingWith error: any Error) -> AnyPublisher<Bool, any Error> {
        guard error.isUnauthorized, !hasRefreshed else {
            return Just(false).setFailureType(to: (any Error).self).eraseToAnyPublisher()
        }
        hasRefreshed = true
        return world.refresh(store.token)
            .map { [store] token in
                store.token = token
                return true
            }
            .replaceError(with: false)
            .setFailureType(to: (any Error).self)
            .eraseToAnyPublisher()
    }
}
