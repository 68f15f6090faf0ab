import Nautilus

/// The state that a concurrency limit guards by its lock: the slots of every origin, and the requests that wait for
/// one.
struct SlotCore<Waiter: Identifiable & Sendable>: Sendable where Waiter.ID: Sendable {
    typealias Answer = SlotMachine<Waiter>.Answer

    private var origins = OriginTable<HttpOrigin, SlotMachine<Waiter>>()
    private let maxConcurrent: Int
    private let maxWaiting: Int

    init(maxConcurrent: Int, maxWaiting: Int) {
        self.maxConcurrent = maxConcurrent
        self.maxWaiting = maxWaiting
    }

    /// Takes a slot of `origin` if there is one.
    mutating func enter(_ origin: HttpOrigin) -> Answer {
        let place = place(of: origin)
        return origins[place].enter()
    }

    /// Takes a slot, or waits for one: one may have become free since the first look, or the line has filled up.
    mutating func join(_ waiter: Waiter, _ origin: HttpOrigin, _ priority: RequestPriority) -> Answer {
        let place = place(of: origin)
        let answer = origins[place].enter()
        if answer == .wait { origins[place].wait(waiter, priority: priority) }
        return answer
    }

    /// Gives a slot of `origin` back.
    ///
    /// - Returns: Its new holder; nil when none waits for one.
    mutating func leave(_ origin: HttpOrigin) -> Waiter? {
        origins.place(of: origin).flatMap { origins[$0].leave() }
    }

    /// Waits no longer; nil when it does not wait, because it has a slot.
    mutating func cancel(_ origin: HttpOrigin, _ id: Waiter.ID) -> Waiter? {
        origins.place(of: origin).flatMap { origins[$0].cancel(id) }
    }

    /// How many hold a slot of `origin`, and how many wait for one.
    mutating func counts(of origin: HttpOrigin) -> (taken: Int, waiting: Int) {
        origins.place(of: origin).map { (origins[$0].taken, origins[$0].waiting) } ?? (0, 0)
    }

    private mutating func place(of origin: HttpOrigin) -> Int {
        origins.place(of: origin) {
            SlotMachine(limit: maxConcurrent, maxWaiting: maxWaiting)
        } worth: { slots in
            slots.worth
        }
    }
}
