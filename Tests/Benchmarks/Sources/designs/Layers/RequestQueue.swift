/// A loader with callbacks: a rejected request goes into a queue until there is a new token, and is then sent again.
///
/// Known from the `OAuth2DataLoader` of https://github.com/p2/OAuth2. The first rejected request starts the refresh; one
/// that comes meanwhile is queued unsent; on success all queued are sent, each for the last time, and on failure all are
/// thrown away with the error.
///
/// The difference: a 401 throws away the token that is there, whether or not it is the one that was rejected.
final class RequestQueue: TokenLayer {
    static let name = "OAuth2 request queue"

    private struct Waiting {
        let call: Int
        let completion: Completion
    }

    private struct State {
        /// Nil after a 401, until the next refresh has succeeded.
        var accessToken: String?
        var refreshToken: String
        var isAuthorizing = false
        var queue: [Waiting] = []
    }

    private let world: World
    private let state: Locked<State>

    init(_ world: World) {
        self.world = world
        let token = world.server.firstToken
        self.state = Locked(State(accessToken: token.accessToken, refreshToken: token.refreshToken))
    }

    func get(_ call: Int, completion: @escaping Completion) {
        perform(Waiting(call: call, completion: completion), mayRetry: true)
    }

    private func perform(_ request: Waiting, mayRetry: Bool) {
        let (isQueued, accessToken) = state.withLock { state in
            if state.isAuthorizing { state.queue.append(request) }
            return (state.isAuthorizing, state.accessToken)
        }
        if isQueued { return }
        world.run({ [world] in try await world.server.get(request.call, accessToken: accessToken) }) { result in
            guard mayRetry, case .failure(let error) = result, error.isUnauthorized else {
                return request.completion(result)
            }
            self.enqueueRejected(request)
        }
    }

    private func enqueueRejected(_ request: Waiting) {
        let refreshToken: String? = state.withLock { state in
            state.queue.append(request)
            state.accessToken = nil
            defer { state.isAuthorizing = true }
            return state.isAuthorizing ? nil : state.refreshToken
        }
        // Somebody else is at it.
        guard let refreshToken else { return }
        world.run({ [world] in try await world.server.refresh(refreshToken) }, completion: authorized)
    }

    @Sendable private func authorized(_ result: Result<Token, any Error>) {
        let queue = state.withLock { state in
            state.isAuthorizing = false
            if case .success(let token) = result {
                state.accessToken = token.accessToken
                state.refreshToken = token.refreshToken
            }
            defer { state.queue = [] }
            return state.queue
        }
        for request in queue {
            switch result {
            case .success: perform(request, mayRetry: false)
            case .failure(let error): request.completion(.failure(error))
            }
        }
    }
}
