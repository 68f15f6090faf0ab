import Foundation
import Nautilus

/// Lets at most so many requests be under way to an origin at once; the others wait, the most urgent first.
///
/// A server answers the requests that it works on at the same time more slowly the more there are, until each is slower
/// than its timeout, and all its work is for nothing. A request that waits here costs the server nothing.
///
/// ```swift
/// struct NotesService: HttpService {
///     let limit = ConcurrencyLimit(8)
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var interceptors: [any HttpInterceptor] { [limit] }
/// }
/// ```
/// Each origin has its own slots, shared by all calls that pass the same instance: keep it in a stored property. One
/// that is made anew in `interceptors` limits nothing. Put it before ``Pacing`` and ``CircuitBreaker``, which are asked
/// when a request has its slot.
///
/// A request holds its slot from here to its answer, redirects and the wait for a credential included. Requests that
/// the exchange itself needs from the same origin, a refresh above all, take no slot: they would wait for one that only
/// its own end frees. A second send (`Hedging`) takes a slot that is free, or is not made. The wait counts for the
/// call's deadline, and not for the request's timeout. Waiting requests of a higher `RequestPriority` come first, then
/// those that came first; low ones can wait for as long as others keep coming.
public final class ConcurrencyLimit: HttpInterceptor {
    private let core: Locked<SlotCore<Waiter<Void>>>

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - maxConcurrent: How many requests may be under way to one origin at once; less than 1 counts as 1. No
    ///     default: it is the number that the server can stand, divided by its clients. Browsers open six to a host.
    ///   - maxWaiting: How many may wait for one of those slots; less than 0 counts as 0. Default: 100: behind a
    ///     hundred others a request is no longer of use to its caller, and an error says so at once.
    public init(_ maxConcurrent: Int, maxWaiting: Int = 100) {
        core = Locked(SlotCore(maxConcurrent: max(1, maxConcurrent), maxWaiting: max(0, maxWaiting)))
    }

    /// How many requests hold a slot of `origin` now.
    public func underWayCount(to origin: HttpOrigin) -> Int {
        core.withLock { $0.counts(of: origin).taken }
    }

    /// How many requests wait for a slot of `origin` now.
    public func waitingCount(for origin: HttpOrigin) -> Int {
        core.withLock { $0.counts(of: origin).waiting }
    }

    /// Sends the request as soon as there is a slot.
    ///
    /// - Throws: `HttpError` of kind `refused` when too many wait already; `CancellationError`, at once, when the
    ///   call is cancelled while it waits, and the end of its session likewise. Otherwise what the exchange throws.
    public func intercept(
        _ request: HttpRequest,
        context: AttemptContext,
        next: Next
    ) async throws -> HttpResponse<Data> {
        // Those that hold the slots may wait for the refresh, or for the exchange around this one.
        guard let origin = request.origin, !context.isPartOfRefresh, !TrafficScope.contains(self, origin) else {
            return try await next(request)
        }
        // Asked here, without a suspension: nearly always there is a slot.
        switch core.withLock({ $0.enter(origin) }) {
        case .go: break
        case .wait: try await wait(for: origin, request, context)
        case .refuse(let refusal): throw HttpError(refusal: refusal)
        }
        defer { leave(origin) }
        let scope = TrafficScope(self, origin)
        defer { scope.end() }
        return try await TrafficScope.$current.withValue(scope) { try await next(request) }
    }
}

extension ConcurrencyLimit {
    private func wait(for origin: HttpOrigin, _ request: HttpRequest, _ context: AttemptContext) async throws {
        let priority = request.priority
        try await context.untilEndOfSession(of: request) { [self] in try await wait(for: origin, priority) }
    }

    private func wait(for origin: HttpOrigin, _ priority: RequestPriority) async throws {
        try await core.wait { core, waiter in
            core.join(waiter, origin, priority)
        } joined: { answer, waiter in
            switch answer {
            case .go: waiter.resume()
            case .wait: break
            case .refuse(let refusal): waiter.resume(throwing: HttpError(refusal: refusal))
            }
        } leave: { core, id in
            core.cancel(origin, id)
        }
    }

    private func leave(_ origin: HttpOrigin) {
        core.withLock { $0.leave(origin) }?.resume()
    }
}

extension ConcurrencyLimit {
    /// Outside of the interceptors that wait for the server.
    public var place: InterceptorPlace { .waitingForOthers }
    /// Itself.
    public var sharedObjects: [any AnyObject & Sendable] { [self] }

    /// Takes a slot of its own, which it holds to its end: a request whose answer is not wanted is work, too.
    public func admitSecondSend(of request: HttpRequest, context: AttemptContext) -> SecondSend {
        guard let origin = request.origin else { return .admitted() }
        guard core.withLock({ $0.enter(origin) }) == .go else { return .refused }
        return .admitted { [self] in leave(origin) }
    }
}

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

/// The slots of one origin, and the requests that wait for one: pure transitions, without lock or task.
///
/// A request that leaves hands its slot to the first in line, so that no newcomer can take it in between.
struct SlotMachine<Waiter: Identifiable & Sendable>: Sendable where Waiter.ID: Sendable {
    /// The answer to a request that wants to go.
    enum Answer: Hashable, Sendable {
        case go
        case wait
        case refuse(TrafficRefusal)
    }

    private let limit: Int
    private let maxWaiting: Int
    private var line = WaitingLine<Waiter>()

    /// How many hold a slot.
    private(set) var taken = 0

    init(limit: Int, maxWaiting: Int) {
        self.limit = limit
        self.maxWaiting = maxWaiting
    }

    /// How many wait for one.
    var waiting: Int { line.count }

    /// The value of keeping it.
    var worth: OriginWorth { taken == 0 && waiting == 0 ? .nothing : .indispensable }

    /// Takes a slot if there is one.
    mutating func enter() -> Answer {
        if taken < limit {
            taken += 1
            return .go
        }
        return waiting < maxWaiting ? .wait : .refuse(.tooManyWaiting(limit: maxWaiting))
    }

    /// Waits for a slot.
    mutating func wait(_ waiter: Waiter, priority: RequestPriority) {
        line.append(waiter, urgency: priority.rawValue)
    }

    /// Gives a slot back.
    ///
    /// - Returns: Its new holder; nil when none waits for one.
    mutating func leave() -> Waiter? {
        if let next = line.popFirst() { return next }
        taken -= 1
        return nil
    }

    /// Waits no longer; nil when it does not wait, because it has a slot.
    mutating func cancel(_ id: Waiter.ID) -> Waiter? {
        line.remove(id)
    }
}
