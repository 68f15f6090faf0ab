import OpenCombine

/// A stream of tokens: a call that was rejected waits for the next one and begins again.
///
/// Known from Daniel Tartaglia, "RxSwift and Handling Invalid Tokens", 2019,
/// https://danielt1263.medium.com/retrying-a-network-request-despite-having-an-invalid-token-b8b89340d29. Here with
/// OpenCombine in place of RxSwift: `retryWhen` is a `catch` that begins again, and `flatMapFirst` a `flatMap` that takes
/// one value at a time from a subject that drops values without demand.
///
/// The difference: the relay is given the token that is there now, not the one that was rejected, so that a
/// late 401 has the fresh one replaced. A call begins again as often as it is rejected, and the stream of tokens ends
/// with the first refresh that fails.
// Unchecked: what changes is behind a lock, and subjects have their own.
final class TokenAcquisitionService: TokenLayer, @unchecked Sendable {
    static let name = "Rx TokenAcquisitionService"

    private let world: World
    private let latest: Locked<Token>
    private let tokens = PassthroughSubject<Token, any Error>()
    private let relay = PassthroughSubject<Token, any Error>()
    private var subscriptions: Set<AnyCancellable> = []

    init(_ world: World) {
        self.world = world
        self.latest = Locked(world.server.firstToken)
        relay
            .flatMap(maxPublishers: .max(1)) { world.refresh($0) }
            .handleEvents(receiveOutput: { [latest] token in latest.withLock { $0 = token } })
            .subscribe(tokens)
            .store(in: &subscriptions)
    }

    func get(_ call: Int, completion: @escaping Completion) {
        send(call).report(to: completion)
    }

    private func send(_ call: Int) -> AnyPublisher<Void, any Error> {
        Deferred { [world, latest] in world.get(call, with: latest.withLock { $0 }) }
            .tryCatch { error in
                guard error.isUnauthorized else { throw error }
                return self.nextToken().flatMap { _ in self.send(call) }
            }
            .eraseToAnyPublisher()
    }

    /// Asks for another token, and waits for it.
    private func nextToken() -> some Publisher<Token, any Error> {
        tokens
            .handleEvents(receiveSubscription: { [relay, latest] _ in relay.send(latest.withLock { $0 }) })
            .first()
    }
}
