import Nautilus

/// Ours, as the guide to authorization has it: the retrier of the examples, backoff, and one coordinator.
///
/// The difference: a rejected attempt brings back the credential that it carried. If its generation is the present
/// one, there is a refresh; if it has been replaced since, the call gets the replacement, however late its 401 came.
///
/// Budget, attempts and limits are the defaults. Only jitter and time come from the storm.
struct NautilusLayer: TokenLayer {
    static let name = "Nautilus"

    private let world: World
    private let service: NotesService

    init(_ world: World) {
        self.world = world
        let endpoint = TokenEndpoint(world)
        let coordinator = RefreshCoordinator(
            credential: world.server.firstToken,
            lifetime: { token in token.expiry.map { $0 - world.now } },
            clock: world.clock,
            random: world.random
        ) { expired in
            try await endpoint.refresh(expired)
        }
        self.service = NotesService(coordinator: coordinator, world: world)
    }

    func get(_ call: Int, completion: @escaping Completion) {
        world.run({ [service] in try await GetNote(id: call).schedule(with: service) }, completion: completion)
    }
}
