#if canImport(Combine)
    import Combine

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
        /// The present grant, and each one that replaces it, as a publisher; see ``grants``.
        public var grantPublisher: GrantPublisher<Credential> { GrantPublisher(coordinator: self) }
    }
#endif
