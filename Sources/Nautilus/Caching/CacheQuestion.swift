/// A request that a cache may answer, and the attempt that it belongs to.
struct CacheQuestion: Sendable {
    let request: HttpRequest
    let target: CacheTarget
    let partition: CachePartition
    let control: CacheControl
    let context: AttemptContext

    init(_ request: HttpRequest, _ target: CacheTarget, _ partition: CachePartition, _ context: AttemptContext) {
        (self.request, self.target, self.partition, self.context) = (request, target, partition, context)
        control = CacheControl(request.header)
    }
}
