import OpenCombine

extension World {
    /// Work as a publisher, begun anew for each subscriber.
    func publisher<Output: Sendable>(
        _ work: @escaping @Sendable () async throws -> Output
    ) -> AnyPublisher<Output, any Error> {
        Deferred {
            Future { promise in
                let promise = Promise(fulfil: promise)
                run(work) { promise.fulfil($0) }
            }
        }.eraseToAnyPublisher()
    }

    /// An API request as a publisher.
    func get(_ call: Int, with token: Token) -> AnyPublisher<Void, any Error> {
        publisher { try await server.get(call, accessToken: token.accessToken) }
    }

    /// A refresh as a publisher.
    func refresh(_ token: Token) -> AnyPublisher<Token, any Error> {
        publisher { try await server.refresh(token.refreshToken) }
    }
}

/// The end of a `Future`.
// Unchecked: futures may be fulfilled from any thread, and their closure just does not say so.
private struct Promise<Output>: @unchecked Sendable {
    let fulfil: (Result<Output, any Error>) -> Void
}

extension Publisher where Output == Void, Failure == any Error {
    /// Subscribes for as long as it takes. A publisher that ends without a value does not report anything.
    func report(to completion: @escaping TokenLayer.Completion) {
        var subscription: AnyCancellable?
        subscription = sink(
            receiveCompletion: { end in
                if case .failure(let error) = end { completion(.failure(error)) }
                // A subscription that has ended need not be held.
                withExtendedLifetime(subscription) { subscription = nil }
            },
            receiveValue: { completion(.success(())) }
        )
    }
}
