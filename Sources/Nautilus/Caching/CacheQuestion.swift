/// A request that a cache may answer.
struct CacheQuestion: Sendable {
    let request: HttpRequest
    let target: CacheTarget
    let partition: CachePartition
    let control: CacheControl

    init(_ request: HttpRequest, _ target: CacheTarget, _ partition: CachePartition) {
        (self.request, self.target, self.partition) = (request, target, partition)
        control = CacheControl(request.header)
    }
}
