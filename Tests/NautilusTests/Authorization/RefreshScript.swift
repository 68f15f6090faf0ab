import Testing

@testable import Nautilus
@testable import NautilusHTTP

/// A refresh that does what the test says, when it says it, and counts.
final class RefreshScript: Sendable {
    private struct State {
        var received: [String] = []
        var cancellations = 0
        var held: [(id: Int, continuation: CheckedContinuation<String, any Error>)] = []
    }

    private let obeysCancellation: Bool
    private let state = Locked(State())

    init(obeysCancellation: Bool = true) {
        self.obeysCancellation = obeysCancellation
    }

    /// How many refreshes have started.
    var count: Int { state.withLock { $0.received.count } }
    /// The credentials they started from.
    var received: [String] { state.withLock { $0.received } }
    /// How many have been cancelled.
    var cancellations: Int { state.withLock { $0.cancellations } }

    /// The refresh: it ends when the test says so.
    func run(_ credential: String) async throws -> String {
        let id = state.withLock { state in
            state.received.append(credential)
            return state.received.count
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if obeysCancellation && Task.isCancelled { return true }
                    state.held.append((id, continuation))
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let held = state.withLock { state -> CheckedContinuation<String, any Error>? in
                state.cancellations += 1
                guard obeysCancellation, let index = state.held.firstIndex(where: { $0.id == id }) else { return nil }
                return state.held.remove(at: index).continuation
            }
            held?.resume(throwing: CancellationError())
        }
    }

    /// Ends the oldest refresh, once it has started.
    func end(with result: Result<String, any Error>) async {
        await eventually("a refresh is in flight") { self.state.withLock { !$0.held.isEmpty } }
        let first = state.withLock { $0.held.isEmpty ? nil : $0.held.removeFirst() }
        first?.continuation.resume(with: result)
    }

    func succeed(with credential: String) async { await end(with: .success(credential)) }
    func fail(with error: any Error) async { await end(with: .failure(error)) }
}

/// Lets other tasks run until `condition` holds; gives up, and fails the test, when it never does.
func eventually(_ what: Comment, _ condition: @Sendable () -> Bool) async {
    for _ in 0..<2_000_000 {
        if condition() { return }
        await Task.yield()
    }
    Issue.record(what)
}

struct Unreachable: Error, Equatable {}

/// The kind of a refresh error, for comparisons: what is underneath is of any type.
func kind(_ error: any Error) -> String {
    switch error {
    case RefreshError.signedOut: "signedOut"
    case RefreshError.sessionExpired: "sessionExpired"
    case RefreshError.failed(_, let underlying): "failed(\(type(of: underlying)))"
    case RefreshError.coolingDown(let remaining, _): "coolingDown(\(remaining.brief))"
    case RefreshError.tooManyRefreshes(let limit, let window, _): "tooManyRefreshes(\(limit) in \(window.brief))"
    case RefreshError.timedOut(let limit, let remaining):
        "timedOut(\(limit.brief)" + (remaining.map { ", next in \($0.brief)" } ?? "") + ")"
    case RefreshError.superseded: "superseded"
    case RefreshError.recursive: "recursive"
    case is CancellationError: "cancelled"
    default: "\(type(of: error))"
    }
}

extension RefreshEvent {
    /// The event in a few words, for comparisons.
    var summary: String {
        switch self {
        case .signedIn(let generation): "signedIn \(generation)"
        case .refreshed(let generation): "refreshed \(generation)"
        case .refreshFailed(let generation, let error): "refreshFailed \(generation) \(kind(error))"
        case .sessionExpired(let generation, let error): "sessionExpired \(generation) \(kind(error))"
        case .signedOut(let generation): "signedOut \(generation)"
        }
    }
}

extension RefreshCoordinator {
    /// How many calls and retries wait for the refresh in flight.
    var waiterCount: Int { guarded.withLock { $0.waiters.count } }
}

/// The result of a call: its generation, or the kind of its error.
func outcome(_ body: () async throws -> RefreshCoordinator<String>.VersionedCredential) async -> String {
    do { return "generation \(try await body().generation)" } catch { return kind(error) }
}

/// Starts `count` tasks that each ask once, and waits until all of them wait.
func startWaiting(
    _ count: Int,
    on coordinator: RefreshCoordinator<String>,
    _ ask: @escaping @Sendable () async throws -> RefreshCoordinator<String>.VersionedCredential
) async -> [Task<String, Never>] {
    let before = coordinator.waiterCount
    let tasks = (0..<count).map { _ in Task { await outcome(ask) } }
    await eventually("\(count) calls wait") { coordinator.waiterCount == before + count }
    return tasks
}

extension [Task<String, Never>] {
    /// The results of the tasks, in order.
    var outcomes: [String] {
        get async {
            var outcomes: [String] = []
            for task in self { outcomes.append(await task.value) }
            return outcomes
        }
    }
}
