import Foundation
import Nautilus

/// An interceptor that limits how many requests to an origin are under way at once; the others wait, the most urgent
/// first.
/// ```swift
/// struct NotesService { let limit = ConcurrencyLimit(8) }
/// extension NotesService: HttpService {
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var interceptors: [any HttpInterceptor] { [limit] }
/// }
/// ```
/// Each origin has its own slots, shared by all calls that pass the same instance: keep the limit in a stored property.
/// A request holds its slot until its answer. The wait counts towards the call's deadline, but not towards the
/// request's timeout. The guide `Traffic` says in which order requests go.
public final class ConcurrencyLimit: NetworkInterceptor {
    private let slots: Locked<SlotTable<Waiter<Void>>>

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - maxConcurrent: How many requests to one origin may be under way at once; less than 1 counts as 1. No
    ///     default: it is the load that the server can bear, divided by the number of its clients. Browsers open six
    ///     connections to a host.
    ///   - maxWaiting: How many requests may wait for one of those slots; less than 0 counts as 0. Default: 100: behind
    ///     a hundred others, a request is no longer of use to its caller, and an error says so at once.
    public init(_ maxConcurrent: Int, maxWaiting: Int = 100) {
        slots = Locked(SlotTable(maxConcurrent: max(1, maxConcurrent), maxWaiting: max(0, maxWaiting)))
    }

    /// How many requests now hold a slot of `origin`.
    public func underWayCount(to origin: HttpOrigin) -> Int {
        slots.withLock { $0.counts(of: origin).taken }
    }

    /// How many requests now wait for a slot of `origin`.
    public func waitingCount(for origin: HttpOrigin) -> Int {
        slots.withLock { $0.counts(of: origin).waiting }
    }

    /// Sends the request as soon as there is a slot.
    ///
    /// - Throws: `HttpError` of kind `refused` when too many requests are waiting already; `CancellationError`, at
    ///   once, when the call is cancelled while it waits, and likewise the end of its session. Otherwise what the
    ///   exchange throws.
    public func intercept(
        _ request: HttpRequest,
        context: AttemptContext,
        next: Next
    ) async throws -> HttpResponse<Data> {
        guard let origin = request.origin else { return try await next(request) }
        // Decided here without suspending: nearly always there is a slot.
        let urgency = context.isForCredential ? nil : request.priority
        switch slots.withLock({ $0.enter(origin, urgency) }) {
        case .go: break
        case .wait where !context.mayWait: throw AttemptContext.WouldWait()
        case .wait: try await context.wait { [self] in try await wait(for: origin, urgency) }
        case .refuse(let refusal): throw HttpError(refusal: refusal)
        }
        defer { leave(origin) }
        return try await next(request)
    }
}

extension ConcurrencyLimit {
    /// - Parameter priority: Nil for the front of the queue.
    private func wait(for origin: HttpOrigin, _ priority: HttpRequest.Priority?) async throws {
        try await slots.wait { slots, waiter in
            slots.join(waiter, origin, priority)
        } joined: { answer, waiter in
            switch answer {
            case .go: waiter.resume()
            case .wait: break
            case .refuse(let refusal): waiter.resume(throwing: HttpError(refusal: refusal))
            }
        } leave: { slots, id in
            slots.cancel(origin, id)
        }
    }

    private func leave(_ origin: HttpOrigin) {
        slots.withLock { $0.leave(origin) }?.resume()
    }
}

extension ConcurrencyLimit {
    /// Outside the interceptors that wait for the server.
    public var networkStage: InterceptorTier.NetworkStage { .waitingForOthers }
}

/// The state that a concurrency limit guards with its lock: the slots of every origin, and the requests that wait for
/// one.
struct SlotTable<Waiter: Identifiable & Sendable>: Sendable where Waiter.ID: Sendable {
    typealias Answer = SlotMachine<Waiter>.Answer

    private var origins = OriginTable<HttpOrigin, SlotMachine<Waiter>>()
    private let maxConcurrent: Int
    private let maxWaiting: Int

    init(maxConcurrent: Int, maxWaiting: Int) {
        self.maxConcurrent = maxConcurrent
        self.maxWaiting = maxWaiting
    }

    /// Takes a slot of `origin` if one is free.
    ///
    /// - Parameter priority: Nil for the front of the queue.
    mutating func enter(_ origin: HttpOrigin, _ priority: HttpRequest.Priority?) -> Answer {
        let place = place(of: origin)
        return origins[place].enter(priority)
    }

    /// Takes a slot, or waits for one: since the first look, a slot may have become free, or the queue may have filled
    /// up.
    mutating func join(_ waiter: Waiter, _ origin: HttpOrigin, _ priority: HttpRequest.Priority?) -> Answer {
        let place = place(of: origin)
        let answer = origins[place].enter(priority)
        if answer == .wait { origins[place].wait(waiter, priority: priority) }
        return answer
    }

    /// Gives a slot of `origin` back.
    ///
    /// - Returns: The slot's new holder; nil when no request waits for one.
    mutating func leave(_ origin: HttpOrigin) -> Waiter? {
        origins.place(of: origin).flatMap { origins[$0].leave() }
    }

    /// Stops waiting; nil when the request is not waiting, because it has a slot.
    mutating func cancel(_ origin: HttpOrigin, _ id: Waiter.ID) -> Waiter? {
        origins.place(of: origin).flatMap { origins[$0].cancel(id) }
    }

    /// How many requests hold a slot of `origin`, and how many wait for one.
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

/// The slots of one origin, and the requests that wait for one; pure transitions, without locks or tasks.
///
/// A request that leaves hands its slot to the first in the queue, so that no newcomer can take it in between.
struct SlotMachine<Waiter: Identifiable & Sendable>: Sendable where Waiter.ID: Sendable {
    /// The answer to a request that asks to be sent.
    enum Answer: Hashable, Sendable {
        case go
        case wait
        case refuse(FailureKind.Refusal)
    }

    private let limit: Int
    private let maxWaiting: Int
    private var queue = WaitQueue<Waiter>()

    /// How many requests hold a slot.
    private(set) var taken = 0

    init(limit: Int, maxWaiting: Int) {
        self.limit = limit
        self.maxWaiting = maxWaiting
    }

    /// How many requests wait for a slot.
    var waiting: Int { queue.count }

    /// The value of keeping this state.
    var worth: OriginWorth { taken == 0 && waiting == 0 ? .nothing : .indispensable }

    /// Takes a slot if one is free.
    ///
    /// - Parameter priority: Nil for the front of the queue, however long it is.
    mutating func enter(_ priority: HttpRequest.Priority?) -> Answer {
        if taken < limit {
            taken += 1
            return .go
        }
        return waiting < maxWaiting || priority == nil ? .wait : .refuse(.tooManyWaiting(limit: maxWaiting))
    }

    /// Waits for a slot.
    mutating func wait(_ waiter: Waiter, priority: HttpRequest.Priority?) {
        queue.append(waiter, urgency: priority?.rawValue ?? .max)
    }

    /// Gives a slot back.
    ///
    /// - Returns: The slot's new holder; nil when no request waits for one.
    mutating func leave() -> Waiter? {
        if let next = queue.popFirst() { return next }
        taken -= 1
        return nil
    }

    /// Stops waiting; nil when the request is not waiting, because it has a slot.
    mutating func cancel(_ id: Waiter.ID) -> Waiter? {
        queue.remove(id)
    }
}
