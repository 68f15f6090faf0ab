import Foundation
import Nautilus
import OpenCombine

/// A subscriber that asks for as much as it is told to, and keeps what it gets.
final class Recorder<Input: Sendable, Failure: Error>: Subscriber, @unchecked Sendable {
    // Unchecked: everything is touched under the lock.

    private let lock = NSLock()
    private var subscription: (any Subscription)?
    private var values: [Input] = []
    private var ending: Subscribers.Completion<Failure>?
    private let initial: Subscribers.Demand
    /// Asked of every value: how many more.
    private let more: Subscribers.Demand

    init(asking initial: Subscribers.Demand = .unlimited, more: Subscribers.Demand = .none) {
        self.initial = initial
        self.more = more
    }

    var all: [Input] { lock.withLock { values } }
    var hasEnded: Bool { lock.withLock { ending != nil } }
    var failure: Failure? {
        guard case .failure(let error)? = lock.withLock({ ending }) else { return nil }
        return error
    }

    func receive(subscription: any Subscription) {
        lock.withLock { self.subscription = subscription }
        if initial > .none { subscription.request(initial) }
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        lock.withLock { values.append(input) }
        return more
    }

    func receive(completion: Subscribers.Completion<Failure>) {
        lock.withLock { ending = completion }
    }

    func ask(_ demand: Subscribers.Demand) { lock.withLock { subscription }?.request(demand) }
    func cancel() { lock.withLock { subscription }?.cancel() }

    /// Returns once this many values are there: the suite's time limit ends a wait that never does.
    func reaches(_ count: Int) async {
        while all.count < count, !Task.isCancelled { await Task.yield() }
    }

    /// Returns once it has ended.
    func end() async {
        while !hasEnded, !Task.isCancelled { await Task.yield() }
    }
}
