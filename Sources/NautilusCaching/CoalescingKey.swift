import Nautilus

/// The values that make requests identical.
struct CoalescingKey: Hashable, Sendable {
    let partition: CachePartition
    private let method: HttpMethod
    private let target: CacheTarget
    private let header: HttpHeader
    /// A request that may take longer must not fail with another's timeout.
    private let timeout: Duration?
    /// The redirects that it takes for answers: one that does is not to get what another was led to.
    private let redirects: [Int]

    init(
        _ request: HttpRequest,
        _ target: CacheTarget,
        _ partition: CachePartition,
        _ context: AttemptContext,
        ignoring ignoredNames: Set<HttpHeader.Name>
    ) {
        (self.partition, self.method, self.target, self.timeout) = (partition, request.method, target, context.timeout)
        redirects = [301, 302, 303, 307, 308].filter(context.acceptedStatusCodes.contains)
        header =
            ignoredNames.isEmpty
            ? request.header : HttpHeader(request.header.fields.filter { !ignoredNames.contains($0.name) })
    }
}
