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

    var callTierStage: InterceptorTier.CallStage { .storing }

    func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
        guard request.method == .get, !context.streamsResponse else { return try await next(request) }
        // If the call could not read what is kept, it asks once more.
        if context.mayShare, !Self.isRevalidating, let entry = lock.withLock({ entries[request.url] }) {
            if now() - entry.time >= lifetime { revalidate(request.url, context) }
            return entry.response
        }
        let response = try await next(request)
        // As it went on the wire, with its credential.
        guard let sent = response.request, response.status == 200,
            !sent.header.fields.contains(where: { $0.name.isSensitive })
        else { return response }
        lock.withLock { entries[request.url] = Entry(response: response, time: now()) }
        return response
    }

    /// Makes the same call once more, for what the answer brings here.
    private func revalidate(_ url: URL, _ context: CallContext) {
        guard let callAgain = context.callAgain, lock.withLock({ revalidated.insert(url).inserted }) else { return }
        Task {
            await Self.$isRevalidating.withValue(true) { await callAgain() }
            lock.withLock { _ = revalidated.remove(url) }
        }
    }
}
