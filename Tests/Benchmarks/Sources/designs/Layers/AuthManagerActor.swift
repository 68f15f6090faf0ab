/// An actor that keeps the token, and the task of a refresh in flight for all calls that ask meanwhile.
///
/// Known from Donny Wals, "Building a token refresh flow with async/await and Swift Concurrency", 2021,
/// https://www.donnywals.com/building-a-token-refresh-flow-with-async-await-and-swift-concurrency/.
///
/// The difference: `refreshToken()` joins the task that is there, and otherwise starts one. A 401 that comes
/// when the task is gone starts the next, whatever has become of the token that it was about.
actor AuthManagerActor: TokenLayer {
    static let name = "actor AuthManager"

    private let world: World
    private var token: Token
    private var refreshTask: Task<Token, any Error>?

    init(_ world: World) {
        self.world = world
        self.token = world.server.firstToken
    }

    func validToken() async throws -> Token {
        if let refreshTask { return try await refreshTask.value }
        guard token.hasExpired(at: world.now) else { return token }
        return try await refreshToken()
    }

    func refreshToken() async throws -> Token {
        if let refreshTask { return try await refreshTask.value }
        let task = world.task { try await self.refresh() }
        refreshTask = task
        return try await task.value
    }

    private func refresh() async throws -> Token {
        defer { refreshTask = nil }
        let fresh = try await world.server.refresh(token.refreshToken)
        token = fresh
        return fresh
    }
}

extension AuthManagerActor {
    nonisolated func get(_ call: Int, completion: @escaping Completion) {
        world.run({ try await self.load(call) }, completion: completion)
    }

    private nonisolated func load(_ call: Int, allowsRetry: Bool = true) async throws {
        let token = try await validToken()
        do {
            try await world.server.get(call, accessToken: token.accessToken)
        } catch {
            guard error.isUnauthorized, allowsRetry else { throw error }
            _ = try await refreshToken()
            try await load(call, allowsRetry: false)
        }
    }
}
