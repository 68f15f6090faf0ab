#if canImport(Combine)
    import Combine
    import Nautilus

    /// A coordinator's grants as a publisher: the present grant, and each one that replaces it; nil while nobody is
    /// signed in.
    ///
    /// A subscriber that asks for few grants gets the latest when it asks, and misses those in between, which are no
    /// longer valid. The publisher ends with the coordinator. Values come on a thread of the system; add `receive(on:)`
    /// for another.
    public struct GrantPublisher<Credential: Sendable>: Publisher, Sendable {
        /// A credential with its version; nil while nobody is signed in.
        public typealias Output = RefreshCoordinator<Credential>.Grant?
        /// The publisher does not fail.
        public typealias Failure = Never

        let coordinator: RefreshCoordinator<Credential>

        /// Adds a subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
            let subscription = GrantSubscription<Credential>(SubscriberBox(subscriber))
            subscriber.receive(subscription: subscription)
            subscription.start(coordinator.grants)
        }
    }

    extension RefreshCoordinator {
        /// The present grant, and each one that replaces it, as a publisher; see `grants`.
        public var grantPublisher: GrantPublisher<Credential> { GrantPublisher(coordinator: self) }
    }

    /// One subscriber's reading of a coordinator's grants. A grant is taken from the stream only when the subscriber
    /// has asked for it, so that the stream keeps the latest.
    private final class GrantSubscription<Credential: Sendable>: Subscription, Sendable {
        typealias Grant = RefreshCoordinator<Credential>.Grant

        private struct State {
            /// How many grants the subscriber still wants; nil for all.
            var demand: Int? = 0
            var reader: Task<Void, Never>?
            var isCancelled = false
        }

        private let subscriber: SubscriberBox<Grant?, Never>
        private let state = Locked(State())
        /// Wakes the reader when the subscriber asks for more.
        private let demands = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

        init(_ subscriber: SubscriberBox<Grant?, Never>) {
            self.subscriber = subscriber
        }

        func start(_ grants: AsyncStream<Grant?>) {
            let reader = Task { await read(grants) }
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

        private func read(_ grants: AsyncStream<Grant?>) async {
            var grants = grants.makeAsyncIterator()
            var demands = demands.stream.makeAsyncIterator()
            while true {
                while !takeDemand() {
                    // Cancelled.
                    guard await demands.next() != nil else { return }
                }
                guard let grant = await grants.next() else { break }
                guard let downstream = subscriber.downstream else { return }
                add(downstream.receive(grant))
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
