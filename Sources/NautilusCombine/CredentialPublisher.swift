#if canImport(Combine)
    import Combine
    import Nautilus

    /// A coordinator's credentials as a publisher: the present credential, and each one that replaces it; nil while
    /// nobody is signed in.
    ///
    /// A subscriber that asks for few credentials gets the latest when it asks, and misses those in between, which are
    /// no longer valid. The publisher ends with the coordinator. Values come on a thread of the system; add `receive(on:)`
    /// for another.
    public struct CredentialPublisher<Credential: Sendable>: Publisher, Sendable {
        /// A credential with its version; nil while nobody is signed in.
        public typealias Output = RefreshCoordinator<Credential>.VersionedCredential?
        /// The publisher does not fail.
        public typealias Failure = Never

        let coordinator: RefreshCoordinator<Credential>

        /// Adds a subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
            let subscription = CredentialSubscription<Credential>(SubscriberBox(subscriber))
            subscriber.receive(subscription: subscription)
            subscription.start(coordinator.credentials)
        }
    }

    extension RefreshCoordinator {
        /// The present credential, and each one that replaces it, as a publisher; see `credentials`.
        public var credentialPublisher: CredentialPublisher<Credential> { CredentialPublisher(coordinator: self) }
    }

    /// One subscriber's reading of a coordinator's credentials. A credential is taken from the stream only when the
    /// subscriber has asked for it, so that the stream keeps the latest.
    private final class CredentialSubscription<Credential: Sendable>: Subscription, Sendable {
        typealias VersionedCredential = RefreshCoordinator<Credential>.VersionedCredential

        private struct State {
            /// How many credentials the subscriber still wants; nil for all.
            var demand: Int? = 0
            var reader: Task<Void, Never>?
            var isCancelled = false
        }

        private let subscriber: SubscriberBox<VersionedCredential?, Never>
        private let state = Locked(State())
        /// Wakes the reader when the subscriber asks for more.
        private let demands = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

        init(_ subscriber: SubscriberBox<VersionedCredential?, Never>) {
            self.subscriber = subscriber
        }

        func start(_ credentials: AsyncStream<VersionedCredential?>) {
            let reader = Task { await read(credentials) }
            let isCancelled = state.withLock { state in
                state.reader = reader
                return state.isCancelled
            }
            if isCancelled { reader.cancel() }
        }

        func request(_ demand: Subscribers.Demand) {
            add(demand)
            demands.continuation.yield()
        }

        func cancel() {
            _ = subscriber.take()
            demands.continuation.finish()
            let reader = state.withLock { state in
                state.isCancelled = true
                return state.reader
            }
            reader?.cancel()
        }

        private func read(_ credentials: AsyncStream<VersionedCredential?>) async {
            var credentials = credentials.makeAsyncIterator()
            var demands = demands.stream.makeAsyncIterator()
            while true {
                while !takeDemand() {
                    // Cancelled.
                    guard await demands.next() != nil else { return }
                }
                guard let credential = await credentials.next() else { break }
                guard let downstream = subscriber.downstream else { return }
                add(downstream.receive(credential))
            }
            // The coordinator is gone. If the subscription was cancelled instead, there is no subscriber to tell.
            subscriber.take()?.complete(.finished)
        }

        private func add(_ demand: Subscribers.Demand) {
            let more = demand.max
            state.withLock { state in
                guard let left = state.demand, let more else { return state.demand = nil }
                let (sum, isTooLarge) = left.addingReportingOverflow(more)
                state.demand = isTooLarge ? nil : sum
            }
        }

        private func takeDemand() -> Bool {
            state.withLock { state in
                guard let demand = state.demand else { return true }
                guard demand > 0 else { return false }
                state.demand = demand - 1
                return true
            }
        }
    }
#endif
