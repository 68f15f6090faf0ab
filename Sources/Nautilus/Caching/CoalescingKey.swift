/// What makes requests identical.
struct CoalescingKey: Hashable, Sendable {
    let partition: CachePartition
    private let method: HttpMethod
    private let target: CacheTarget
    private let header: HttpHeader
    /// One that may take longer must not fail with another's timeout.
    private let timeout: Duration?
    /// How many changes have ended before it was asked: what an exchange brings that began before one may be older than
    /// the change.
    private let changes: Int64

    init(
        _ request: HttpRequest,
        _ target: CacheTarget,
        _ partition: CachePartition,
        _ timeout: Duration?,
        after changes: Int64,
        ignoring ignoredNames: Set<HttpHeader.Name>
    ) {
        (self.partition, self.method, self.target, self.timeout) = (partition, request.method, target, timeout)
        self.changes = changes
        header =
            ignoredNames.isEmpty
            ? request.header : HttpHeader(request.header.fields.filter { !ignoredNames.contains($0.name) })
    }
}
