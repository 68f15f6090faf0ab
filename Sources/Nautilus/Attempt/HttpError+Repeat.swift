extension HttpError {
    /// Whether another attempt is sure to execute nothing twice: either the server has not acted on anything that this
    /// attempt sent, or acting twice has the same effect as acting once.
    ///
    /// A retrier checks it before it repeats an attempt after a failure. It covers the whole attempt: an interceptor
    /// may have sent more than the request that failed. ``delivery`` tells whether the server may have acted;
    /// ``RequestSummary/isIdempotent``, whether acting twice makes a difference.
    ///
    /// Whether another attempt may *succeed* is another question, answered by ``RetryCondition``.
    public var isSafeToRepeat: Bool {
        delivery != .maybeExecuted || request?.isIdempotent == true
    }

    /// Whether the request was held back on this side, so that nothing in the error comes from the server.
    var isRefusal: Bool {
        if case .refused = kind { true } else { false }
    }
}
