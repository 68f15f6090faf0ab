import Foundation
import Nautilus

/// Answers requests from what the server has answered before, by the rules that it gives: a private cache (RFC 9111).
///
/// ```swift
/// struct NotesService: HttpService {
///     let cache = HttpCache()
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var interceptors: [any HttpInterceptor] { [cache] }
/// }
/// ```
/// Keep it in a stored property: one that is made anew in `interceptors` remembers nothing. Put it first, so that an
/// answer from the cache takes no slot and waits for nothing: no credential is fetched for it.
///
/// Answers to GET are stored as `Cache-Control`, `Expires`, `Vary` and `Last-Modified` say, and answer GET and HEAD for
/// as long as they are fresh. A stale one is validated by its `ETag` or `Last-Modified`: a 304 renews it, and the
/// caller gets it with its 200. `stale-while-revalidate` and `stale-if-error` (RFC 5861) are heeded; one call at a
/// time revalidates behind a stale answer, with a retrier of its own. A request says by
/// its own `Cache-Control` what it takes: `no-cache`, `no-store`, `max-age`, `max-stale`, `min-fresh`,
/// `only-if-cached`. An attempt after the first goes to the server, to ask at least whether the stored response has
/// changed: it may be what failed.
///
/// A method that is not safe makes the cache forget the responses of its URL, if it has succeeded or its answer got
/// lost; after a success, also those of the URLs on the same origin that `Location`, `Content-Location` and a redirect
/// lead to (RFC 9111 §4.4).
///
/// Not stored, whatever the server says: answers to requests with a credential, unless ``CacheAccounts`` keeps accounts
/// apart; parts, and answers to conditional requests; redirects, and what they led to; 401 and 407; responses that vary
/// by a secret or by `*`. All fields of a header are stored but `Set-Cookie` and those that belong to one exchange: of
/// the connection, of the proxy, and `Authentication-Info` (RFC 9111 §3.1).
///
/// Three more kinds of answers are not stored: those that the call's request cannot decode, those whose body says that the
/// request has failed, and those that an interceptor behind the cache has made by itself or fetched from another URL. A
/// stored answer that cannot be decoded is forgotten, in memory and on disk.
///
/// A field named by `Vary` that an interceptor behind the cache stamps is unknown when the cache looks: such an answer
/// serves only after the server has validated it. Put interceptors that stamp such fields before the cache.
///
/// An answer from the cache has an `Age`, and no URL unless the server was asked; the call's trace says which.
public final class HttpCache: HttpInterceptor {
    let accounts: CacheAccounts
    let core: Locked<CacheCore>
    let disk: CacheDisk?
    private let heuristicCap: Int64
    let staleIfError: Int64
    private let wallClock: @Sendable () -> Date

    /// Creates a cache that is empty, or has what its folder has.
    ///
    /// - Parameters:
    ///   - maxBytes: How many bytes of memory responses may take, about; those that were not used for longest go first.
    ///     Default: 16 MiB, thousands of JSON documents, and little beside a few images.
    ///   - maxResponseBytes: How large a response is stored at most, in memory as on disk. Default: nil, an eighth of
    ///     `maxBytes`, so that no single one empties the cache.
    ///   - folder: The folder in which responses are kept beside the memory. Default: nil, none: responses on a disk
    ///     stay there after the user has signed out, unless ``removeAll(ofAccount:)`` is called.
    ///   - accounts: How answers to different users are kept apart. Default: answers to requests with a credential are
    ///     not stored, the only safe way as long as their accounts are unknown.
    ///   - heuristicCap: The longest time for which a response is fresh that does not say for how long: a tenth of the
    ///     time since `Last-Modified`, up to this. Default: 24 hours (RFC 9111 §4.2.2 leaves it open); zero for always
    ///     asking.
    ///   - staleIfError: For how long a stale response stands in for an answer that fails, where the server does not
    ///     say. Above zero, responses are stored for it alone, too, unless `no-cache` or `must-revalidate` forbids it.
    ///     Default: zero, it does not: a reload (`max-age=0`) that fails is a failure then, even when what it wanted renewed
    ///     is fresh.
    ///   - wallClock: The time of day, which servers' dates are compared with. Default: the system's.
    public init(
        maxBytes: Int = 16 << 20,
        maxResponseBytes: Int? = nil,
        folder: CacheFolder? = nil,
        accounts: CacheAccounts = .anonymousOnly,
        heuristicCap: Duration = .seconds(86_400),
        staleIfError: Duration = .zero,
        wallClock: @escaping @Sendable () -> Date = { DefaultClock.date }
    ) {
        self.accounts = accounts
        self.core = Locked(CacheCore(limit: maxBytes, maxResponse: maxResponseBytes ?? maxBytes / 8))
        self.disk = folder.map(CacheDisk.init)
        self.heuristicCap = heuristicCap.clampedToCentury.components.seconds
        self.staleIfError = staleIfError.clampedToCentury.components.seconds
        self.wallClock = wallClock
    }

    /// How many bytes of memory the stored responses take, about.
    public var byteCount: Int { core.withLock { $0.size } }

    /// How many responses are in memory.
    public var responseCount: Int { core.withLock { $0.count } }

    /// Answers the request, or has the server answer it.
    ///
    /// - Throws: `HttpError` of kind `refused` with a response of status 504 for a request that wants nothing but
    ///   what is stored, when that does not do; nothing retries it. Otherwise what the exchange throws.
    public func intercept(
        _ request: HttpRequest,
        context: AttemptContext,
        next: Next
    ) async throws -> HttpResponse<Data> {
        guard let target = CacheTarget(request) else { return try await next(request) }
        if CacheStorage.isUnsafe(request.method) { return try await change(target, request, next) }
        // A body that is read while it comes is never here as a whole.
        guard CacheStorage.concerns(request), !context.streamsResponse else { return try await next(request) }
        let account = accounts.account(of: context, notedBy: self)
        if let revalidation = CacheRevalidation.current(for: target, in: self) {
            // The account has changed since: its answers are nothing that this call may ask for.
            guard let account, account.isCurrent, account.partition == revalidation.partition else {
                throw CancellationError()
            }
        }
        // The call began as another account's, or its account is unknown.
        guard let account, account.isCurrent else { return try await next(request) }
        // Whatever it would be answered with belongs to no account.
        if account.partition.account == nil, request.hasCredential { return try await next(request) }
        return try await answer(CacheQuestion(request, target, account, context), next)
    }

    /// The cache, which has a memory.
    public var sharedObjects: [any AnyObject & Sendable] { [self] }

    /// Notes the account of a call.
    public func noteFacts<R: Request>(of request: R, in facts: inout CallFacts) {
        accounts.note(request, in: &facts, by: self)
    }

    /// The time of day.
    var now: Int64 { wallClock().clockSeconds }

    func freshness(of stored: StoredResponse) -> Freshness {
        Freshness(stored, now: now, heuristicCap: heuristicCap)
    }
}

extension HttpCache: Redacted {
    /// The size of the cache, and nothing of its content.
    public var description: String { "HttpCache with \(responseCount) responses in \(byteCount) bytes" }
}

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

    /// Removes the responses of all accounts but one, on disk as well: call it at the launch, since a user may have been
    /// signed out while nobody was there to remove theirs. What belongs to no account stays.
    ///
    /// - Parameter account: The account that is kept; nil for none.
    public func removeAll(exceptAccount account: String?) async {
        let kept = Set([CachePartition(account: nil), CachePartition(account: account)])
        core.withLock { core in
            core.removeAll(except: kept)
            disk?.removeAll(except: kept)
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
