import Foundation
import Nautilus

/// An interceptor that answers requests from the server's earlier answers, by the server's rules: a private cache (RFC
/// 9111). The guide `Caching` lists what is stored and what never is.
/// ```swift
/// struct NotesService { let cache = HttpCache() }
/// extension NotesService: HttpService {
///     var apiUrl: any UrlConvertible { "api.example.com/v1" }
///     var interceptors: [any HttpInterceptor] { [cache] }
/// }
/// ```
/// Keep the cache in a stored property, or it remembers nothing. An answer from the cache waits for no credential and
/// no network, only for the service's asynchronous header. It has an `Age`, but no URL unless the server was asked; the
/// trace tells which was the case. Answers to requests with a credential are stored only if ``CacheAccounts`` keeps
/// accounts apart.
public final class HttpCache: CallInterceptor {
    let accounts: CacheAccounts
    let appFields: Set<HttpHeader.Name>
    let memory: Locked<CacheMemory>
    let disk: CacheDisk?
    private let heuristicCap: Int64
    let staleIfError: Int64
    private let wallClock: @Sendable () -> Date

    /// Creates a cache that is empty, or starts with the content of its folder.
    ///
    /// - Parameters:
    ///   - maxBytes: The approximate memory for responses, in bytes; the least recently used go first. Default: 16 MiB,
    ///     which holds thousands of JSON documents, but only a few images.
    ///   - maxResponseBytes: The largest response to store, in bytes. Default: nil, an eighth of `maxBytes`, so that no
    ///     single response empties the cache.
    ///   - folder: Where responses are also kept. Default: nil, none: on disk, they outlive a sign-out unless you call
    ///     ``removeAll(ofAccount:)``.
    ///   - accounts: How users are kept apart. Default: no answer to a request with a credential is stored.
    ///   - appFields: Fields that name the app, not the user, such as `X-Api-Key`; they do not count as a credential.
    ///     Default: none, since such a field may hold a secret.
    ///   - heuristicCap: The longest time that a response without a lifetime is fresh: a tenth of the time since its
    ///     `Last-Modified`, up to this. Default: 24 hours. With zero, such responses are always validated.
    ///   - staleIfError: How long a stale response stands in for a failed answer, if the server does not say. Default:
    ///     zero, since a reload that fails should fail. Above zero, more responses are stored; see the guide `Caching`.
    ///   - wallClock: The time of day, to compare with servers' dates. Default: the system's.
    public init(
        maxBytes: Int = 16 << 20,
        maxResponseBytes: Int? = nil,
        folder: CacheFolder? = nil,
        accounts: CacheAccounts = .anonymousOnly,
        appFields: Set<HttpHeader.Name> = [],
        heuristicCap: Duration = .seconds(86_400),
        staleIfError: Duration = .zero,
        wallClock: @escaping @Sendable () -> Date = { DefaultClock.date }
    ) {
        self.accounts = accounts
        self.appFields = appFields
        self.memory = Locked(CacheMemory(limit: maxBytes, maxResponse: maxResponseBytes ?? maxBytes / 8))
        self.disk = folder.map(CacheDisk.init)
        self.heuristicCap = heuristicCap.clampedToCentury.components.seconds
        self.staleIfError = staleIfError.clampedToCentury.components.seconds
        self.wallClock = wallClock
    }

    /// The approximate number of bytes of memory that the stored responses take.
    public var byteCount: Int { memory.withLock { $0.size } }

    /// How many responses are in memory.
    public var responseCount: Int { memory.withLock { $0.count } }

    /// Answers the request, or has the server answer it.
    ///
    /// - Throws: `HttpError` of kind `refused`, with a response of status 504, for a request that accepts only a stored
    ///   response when there is no suitable one; this error is never retried. Otherwise what the exchange throws.
    public func intercept(
        _ request: HttpRequest,
        context: CallContext,
        next: Next
    ) async throws -> HttpResponse<Data> {
        guard let target = CacheTarget(request) else { return try await next(request) }
        // RFC 9111 §4.4; an unknown method may change something, too.
        if !request.method.isSafe { return try await change(target, request, context, next) }
        // An answer that brings a credential belongs to one user, whatever its header allows, and is useful only once.
        guard !context.isForCredential else { return try await next(request) }
        // A streamed body is never available as a whole.
        guard Self.concerns(request), !context.streamsResponse else { return try await next(request) }
        let partition = accounts.partition(of: request, context)
        if let revalidation = CacheRevalidation.current(for: target, in: self), partition != revalidation.partition {
            // The account has changed since, and this call may not ask for the new account's answers.
            throw CancellationError()
        }
        // It is not known whose answer it is.
        guard let partition, partition.account != nil || !request.hasCredential(besides: appFields) else {
            if CacheControl(request.header).onlyIfCached { throw HttpError.nothingStored }
            return try await next(request)
        }
        let question = CacheQuestion(request, target, partition, accounts, context)
        return context.mayShare ? try await answer(question, next) : try await answerAnew(question, next)
    }

    /// Outside of what shares exchanges.
    public var callTierStage: InterceptorTier.CallStage { .storing }

    /// The account by which answers are kept apart.
    public func account<R: Request>(of request: R) -> String? { accounts.account(of: request) }

    /// The time of day.
    var now: Int64 { wallClock().clockSeconds }

    func freshness(of stored: StoredResponse) -> Freshness {
        Freshness(stored, now: now, heuristicCap: heuristicCap)
    }
}

extension HttpCache {
    /// Whether a request can be answered from a cache, and its answer kept: a GET or HEAD for a whole representation.
    ///
    /// Conditions that the caller sets are left to the caller: the answer may be a 304, which is useless to a cache
    /// without the caller's copy. Parts are not kept (§3.3 allows it).
    static func concerns(_ request: HttpRequest) -> Bool {
        guard request.method == .get || request.method == .head, request.body.isEmpty else { return false }
        return !request.header.fields.contains { conditions.contains($0.name) }
    }

    private static let conditions: Set<HttpHeader.Name> = [
        "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
    ]
}

extension HttpCache: Redacted {
    /// The size of the cache, and nothing of its content.
    public var description: String { "HttpCache with \(responseCount) responses in \(byteCount) bytes" }
}

extension HttpCache {
    /// Forgets what is stored for `url`, for all accounts, including answers that are still on their way.
    public func remove(_ url: URL) async {
        guard let target = CacheTarget(url) else { return }
        remove(target)
        await disk?.flush()
    }

    /// Removes the responses of an account; call it when its user signs out.
    ///
    /// - Parameter account: The account, as ``CacheAccounts`` named it; nil for responses that belong to no account.
    public func removeAll(ofAccount account: String?) async {
        let partition = CachePartition(account: account)
        memory.withLock { memory in
            memory.removeAll(of: partition)
            disk?.removeAll(of: partition)
        }
        await disk?.flush()
    }

    /// Removes the responses of all accounts but one, also from disk. Call it at launch, since a user may have been
    /// signed out while the app could not remove that user's responses. Responses that belong to no account stay.
    ///
    /// - Parameter account: The account that is kept; nil for none.
    public func removeAll(exceptAccount account: String?) async {
        let kept = Set([CachePartition(account: nil), CachePartition(account: account)])
        memory.withLock { memory in
            memory.removeAll(except: kept)
            disk?.removeAll(except: kept)
        }
        await disk?.flush()
    }

    /// Forgets everything, also on disk, and returns once it is gone.
    ///
    /// Another process that shares the folder still has its own responses in memory.
    public func removeAll() async {
        memory.withLock { memory in
            memory.removeAll()
            disk?.removeAll()
        }
        await disk?.flush()
    }

    /// Returns once everything that was stored is on disk; for a tool that is about to end.
    public func flush() async {
        await disk?.flush()
    }

    /// Sends a request that may change something, and forgets what it may have changed (RFC 9111 §4.4).
    func change(
        _ target: CacheTarget,
        _ request: HttpRequest,
        _ context: CallContext,
        _ next: Next
    ) async throws -> HttpResponse<Data> {
        let response: HttpResponse<Data>
        do {
            response = try await next(request)
        } catch {
            // A lost answer may have been a success; a status that is an error is none.
            let error = HttpError(wrapping: error, stage: .intercept, delivery: .notSent)
            // So is a redirect to a GET, whatever that brings.
            let isAnswered = error.redirects?.becameGet == true
            if isAnswered || error.delivery != .notSent && (error.response == nil || context.hasLostAnswer) {
                remove(target)
            }
            throw error
        }
        guard (200..<400).contains(response.status) else {
            // An attempt before it may have been the success, such as that of a DELETE whose second answer is 404.
            if context.hasLostAnswer || response.exchange?.redirects?.becameGet == true { remove(target) }
            return response
        }
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
        memory.withLock { memory in
            memory.remove(target)
            disk?.remove(target)
        }
    }
}

/// A request that a cache may answer, and the call that it belongs to.
struct CacheQuestion {
    let request: HttpRequest
    let target: CacheTarget
    /// The partition that answers come from and go to.
    let partition: CachePartition
    let control: CacheControl
    let context: CallContext
    private let accounts: CacheAccounts

    init(
        _ request: HttpRequest,
        _ target: CacheTarget,
        _ partition: CachePartition,
        _ accounts: CacheAccounts,
        _ context: CallContext
    ) {
        (self.request, self.target, self.partition) = (request, target, partition)
        (self.accounts, self.context) = (accounts, context)
        control = CacheControl(request.header)
    }

    /// Whether the call still belongs to its account, so that its answer may be kept.
    var isCurrent: Bool { accounts.partition(of: request, context) == partition }
}
