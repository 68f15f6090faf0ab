#if canImport(Combine)
    import Combine

    /// A coordinator's grants as a publisher: the present one, and each that takes its place; nil while nobody is
    /// signed in.
    ///
    /// A subscriber that asks for few gets the latest when it asks, and misses those in between, which are dead. It
    /// ends with the coordinator. Values come on a thread of the system's; add `receive(on:)` for another.
    public struct GrantPublisher<Credential: Sendable>: Publisher, Sendable {
        /// A credential with its version; nil while nobody is signed in.
        public typealias Output = RefreshCoordinator<Credential>.Grant?
        /// It does not fail.
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
        /// The grant as it is now, and each one that takes its place, as a publisher; see ``grants``.
        public var grantPublisher: GrantPublisher<Credential> { GrantPublisher(coordinator: self) }
    }
#endif
