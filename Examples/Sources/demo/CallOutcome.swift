import Nautilus

/// How one call went.
struct CallOutcome: Sendable {
    var trace: CallTrace
    /// Why it failed; nil for a success.
    var failure: String?
}
