/// Marks what runs inside an attempt of a call that retries: a call in there that retries as well is made, with all its
/// attempts, in each attempt of the outer one.
///
/// Task-local, so that it costs nothing where nothing is nested but to be looked at. What is known of the retries is asked
/// of the factory only when there is something to tell.
struct RetryLayer: Sendable {
    /// The attempt that the current task works for; nil outside of all.
    @TaskLocal static var current: RetryLayer?

    private let factory: any RetrierFactory
    private let request: any Any.Type

    /// - Parameters:
    ///   - factory: What has made the call's retrier.
    ///   - request: The type of the call's request.
    init(_ factory: any RetrierFactory, request: any Any.Type) {
        self.factory = factory
        self.request = request
    }

    /// What is to be told of a call that is made within this one; nil when only one of them retries, as far as is known.
    func note(of inner: any RetrierFactory) -> CallTrace.Note? {
        let (outer, inner) = (factory.policies.maxAttempts, inner.policies.maxAttempts)
        guard outer > 1, inner > 1 else { return nil }
        return .nestedRetries(within: String(describing: request), outerAttempts: outer, attempts: inner)
    }
}
