#if canImport(Combine)
    import Combine

    /// One subscriber's share in a call.
    final class CallSubscription<Output: Sendable, Failure: Error>: Subscription, Sendable {
        private let call: SharedCall<Output, Failure>
        private let subscriber: SubscriberBox<Output, Failure>

        init(_ call: SharedCall<Output, Failure>, _ subscriber: SubscriberBox<Output, Failure>) {
            self.call = call
            self.subscriber = subscriber
            call.join(ObjectIdentifier(self)) { [self] in receive($0) }
        }

        func request(_ demand: Subscribers.Demand) {
            // Any positive demand will do, since there is only one value.
            guard demand > .none else { return }
            call.ask(ObjectIdentifier(self))
        }

        func cancel() {
            _ = subscriber.take()
            call.leave(ObjectIdentifier(self))
        }

        private func receive(_ outcome: Result<Output, Failure>) {
            guard let downstream = subscriber.take() else { return }
            switch outcome {
            case .success(let value):
                _ = downstream.receive(value)
                downstream.complete(.finished)
            case .failure(let error):
                downstream.complete(.failure(error))
            }
        }
    }
#endif
