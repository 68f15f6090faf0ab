import Nautilus

extension HttpError {
    /// The failure of a request that was held back here: nothing of it was sent.
    init(refusal: TrafficRefusal) {
        self.init(
            .refused(refusal),
            stage: .intercept,
            delivery: .notSent,
            retryAfter: refusal.retryAfter
        )
    }
}
