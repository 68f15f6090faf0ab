import Foundation
import Nautilus

/// A cache as an app writes its own, from what every interceptor can do: answers are good for a while; after that they are
/// still given at once, and the server is asked behind the call.
///
/// Only what was asked for without a credential is kept, and nothing that could not be decoded.
final class StaleCache: CallInterceptor, @unchecked Sendable {  // Unchecked: touched under the lock only.
    private struct Entry {
        let response: HttpResponse<Data>
        let time: Duration
    }

    /// Whether the current task asks for what was served stale.
    @TaskLocal private static var isRevalidating = false

    private let lifetime: Duration
    private let now: @Sendable () -> Duration
    private let lock = NSLock()
    private var entries: [URL: Entry] = [:]
    private var revalidated: Set<URL> = []

    init(lifetime: Duration, now: @escaping @Sendable () -> Duration) {
        (self.lifetime, self.now) = (lifetime, now)
    }

    var callTierStage: CallTierStage { .storing }

    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        guard request.method == .get, !context.streamsResponse else { return try await next(request) }
        // A retry goes to the server: what is kept may be what failed.
        if context.number == 1, !Self.isRevalidating, let entry = entry(of: request.url) {
            if now() - entry.time >= lifetime { revalidate(request.url, context) }
            forgetUndecodable(request.url, context)
            return entry.response
        }
        let carriesCredential = Flag()
        context.follow { event in
            if case .sending(let sent, _) = event, sent.header.fields.contains(where: { $0.name.isSensitive }) {
                carriesCredential.set()
            }
        }
        let response = try await next(request)
        guard response.status == 200, !carriesCredential.isSet else { return response }
        lock.withLock { entries[request.url] = Entry(response: response, time: now()) }
        forgetUndecodable(request.url, context)
        return response
    }

    private func entry(of url: URL) -> Entry? {
        lock.withLock { entries[url] }
    }

    private func forgetUndecodable(_ url: URL, _ context: AttemptContext) {
        context.follow { [self] event in
            guard case .failed(let error) = event, error.stage == .decode else { return }
            lock.withLock { entries[url] = nil }
        }
    }

    /// Makes the same call once more, for what the answer brings here.
    private func revalidate(_ url: URL, _ context: AttemptContext) {
        guard let callAgain = context.callAgain, lock.withLock({ revalidated.insert(url).inserted }) else { return }
        Task {
            await Self.$isRevalidating.withValue(true) { await callAgain() }
            lock.withLock { _ = revalidated.remove(url) }
        }
    }
}

/// Something that has happened or not.
private final class Flag: @unchecked Sendable {  // Unchecked: touched under the lock only.
    private let lock = NSLock()
    private var value = false

    var isSet: Bool { lock.withLock { value } }
    func set() { lock.withLock { value = true } }
}
