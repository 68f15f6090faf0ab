import NautilusTesting

/// All that a design gets from outside: the server, the time, and a place for its tasks.
struct World: Sendable {
    let server: Server
    /// The server's name, another one for each storm: what the process keeps for each origin is then the storm's own.
    let host: String
    let clock: ManualClock
    let random: SeededRandomSource
    /// In place of `Task { … }`, whose order would be the pool's and not the seed's.
    let spawn: @Sendable (_ work: @escaping @Sendable () async -> Void) -> Void
    /// The same for a task that is waited for.
    let task: @Sendable (_ work: @escaping @Sendable () async throws -> Token) -> Task<Token, any Error>

    /// The time since the storm began.
    var now: Duration { clock.now.offset }

    /// Runs `work` and hands its end to `completion`, as URL loading does.
    func run<Success: Sendable>(
        _ work: @escaping @Sendable () async throws -> Success,
        completion: @escaping @Sendable (Result<Success, any Error>) -> Void
    ) {
        spawn {
            do {
                completion(.success(try await work()))
            } catch {
                completion(.failure(error))
            }
        }
    }
}
