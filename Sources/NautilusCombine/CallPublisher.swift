#if canImport(Combine)
    import Combine
    import Nautilus

    /// A call as a publisher: one value, or the service's own error.
    /// ```swift
    /// let note = GetNote(id: 7).publisher(with: service)
    /// note.receive(on: DispatchQueue.main).sink { … } receiveValue: { … }.store(in: &subscriptions)
    /// ```
    /// The publisher is lazy: the call is made when the first subscriber asks for a value. It is shared: all
    /// subscribers, including late ones, and all copies of the publisher get the outcome of that one call. If the last
    /// subscriber leaves before the end, the call is cancelled, and the next subscriber starts a new one. For a call
    /// per subscriber, make a publisher for each: `Deferred { GetNote(id: 7).publisher(with: service) }`.
    ///
    /// The value comes on the thread on which the call ends; add `receive(on:)` for another. Leave retries to the
    /// service's retrier: the operator `retry(_:)` would get the same error again.
    public struct CallPublisher<Output: Sendable, Failure: Error>: Publisher, Sendable {
        private let call: SharedCall<Output, Failure>

        init(_ start: @escaping SharedCall<Output, Failure>.Start) {
            self.call = SharedCall(start)
        }

        /// Adds a subscriber.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            subscriber.receive(subscription: CallSubscription(call, SubscriberBox(subscriber)))
        }
    }

    extension Request {
        /// The call as a publisher of its decoded result, made when a subscriber asks for it.
        public func publisher<S: HttpService>(with service: S) -> CallPublisher<Result, S.RequestError> {
            CallPublisher { schedule(with: service, on: nil, completion: $0) }
        }

        /// The call as a publisher of its result with status, header and trace, made when a subscriber asks for it.
        public func responsePublisher<S: HttpService>(
            with service: S
        ) -> CallPublisher<HttpResponse<Result>, S.RequestError> {
            CallPublisher { response(with: service, on: nil, completion: $0) }
        }
    }

    extension AnyCancellable {
        /// Cancels a call that was started with a completion handler when it is released.
        public convenience init(_ call: CallHandle) {
            self.init { call.cancel() }
        }
    }

    /// One subscriber's share in a call.
    private final class CallSubscription<Output: Sendable, Failure: Error>: Subscription, Sendable {
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
