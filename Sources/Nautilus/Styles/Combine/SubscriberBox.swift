#if canImport(Combine)
    import Combine

    /// A subscriber, until it is released.
    final class SubscriberBox<Input: Sendable, Failure: Error>: Sendable {
        /// The closures that hand a subscriber its value and its completion.
        struct Downstream: @unchecked Sendable {  // Unchecked: Combine calls it from any thread, once at a time.
            let receive: (Input) -> Subscribers.Demand
            let complete: (Subscribers.Completion<Failure>) -> Void
        }

        private let held: Locked<Downstream?>

        init<S: Subscriber>(_ subscriber: S) where S.Input == Input, S.Failure == Failure {
            let downstream = Downstream(
                receive: { subscriber.receive($0) },
                complete: { subscriber.receive(completion: $0) }
            )
            held = Locked(downstream)
        }

        /// The subscriber; nil once it has been released.
        var downstream: Downstream? { held.withLock { $0 } }

        /// Releases the subscriber, and returns it.
        ///
        /// - Returns: Nil if it had been released before.
        func take() -> Downstream? {
            held.withLock { held in
                defer { held = nil }
                return held
            }
        }
    }
#endif
