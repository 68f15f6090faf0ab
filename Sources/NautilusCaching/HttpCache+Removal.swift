import Foundation
import Nautilus

extension HttpCache {
    /// Forgets what is stored of `url`, for all accounts, and what is under way to be stored.
    public func remove(_ url: URL) async {
        guard let target = CacheTarget(url) else { return }
        remove(target)
        await disk?.flush()
    }

    /// Removes the responses of an account: call it when its user signs out.
    ///
    /// - Parameter account: The account, as ``CacheAccounts`` named it; nil for responses that belong to no account.
    public func removeAll(ofAccount account: String?) async {
        let partition = CachePartition(account: account)
        core.withLock { core in
            core.removeAll(of: partition)
            disk?.removeAll(of: partition)
        }
        await disk?.flush()
    }

    /// Forgets everything, on disk as well, and returns once it is gone.
    ///
    /// Another process that shares the folder still has what it has in memory.
    public func removeAll() async {
        core.withLock { core in
            core.removeAll()
            disk?.removeAll()
        }
        await disk?.flush()
    }

    /// Returns once everything that was stored is on the disk: for a tool that is about to end.
    public func flush() async {
        await disk?.flush()
    }

    /// Sends what may change something, and forgets what it may have changed (RFC 9111 §4.4).
    func change(_ target: CacheTarget, _ request: HttpRequest, _ next: Next) async throws -> HttpResponse<Data> {
        let response: HttpResponse<Data>
        do {
            response = try await next(request)
        } catch {
            // An answer that got lost may have been a good one.
            if (error as? HttpError)?.delivery != .notSent { remove(target) }
            throw error
        }
        guard (200..<400).contains(response.status) else { return response }
        remove(target)
        let url = response.url ?? request.url
        // The target of a redirect was changed as well.
        if let last = CacheTarget(url), last != target, last.origin == target.origin { remove(last) }
        for name in [HttpHeader.Name.location, .contentLocation] {
            for location in response.header.values(of: name) {
                if let related = target.related(location, to: url) { remove(related) }
            }
        }
        return response
    }

    private func remove(_ target: CacheTarget) {
        core.withLock { core in
            core.remove(target)
            disk?.remove(target)
        }
    }
}
