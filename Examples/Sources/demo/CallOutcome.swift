import Nautilus

/// How one call went.
struct CallOutcome: Sendable {
    var trace: CallTrace
    /// The number of the note that it created; nil for other calls.
    var createdId: Int?
    /// Why it failed; nil for a success.
    var failure: String?
}
