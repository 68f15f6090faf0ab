import Nautilus

extension HttpError {
    /// Creates the failure of a request that was held back here, so that nothing of it was sent.
    init(refusal: FailureKind.Refusal) {
        self.init(
            .refused(refusal),
            stage: .intercept,
            delivery: .notSent,
            retryAfter: refusal.retryAfter
        )
    }
}
