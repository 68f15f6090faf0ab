extension CallTrace {
    /// A fact worth knowing of a call beside its attempts.
    public enum Note: Sendable, Hashable {
        /// The call was made within an attempt of another one, and both retry, so that their attempts multiply.
        ///
        /// - Parameters:
        ///   - outer: The type of the other call's request.
        ///   - outerAttempts: How often the other call may be attempted, each time with a call like this one.
        ///   - attempts: How often this call may be attempted.
        case nestedRetries(within: String, outerAttempts: Int, attempts: Int)
    }
}

extension CallTrace.Note: CustomStringConvertible {
    /// The note, with its remedy.
    public var description: String {
        switch self {
        case .nestedRetries(let outer, let outerAttempts, let attempts):
            """
            nested retries: up to \(attempts) attempts in each of up to \(outerAttempts) of \(outer); \
            let one of the two calls retry
            """
        }
    }
}
