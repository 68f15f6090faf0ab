import Nautilus

/// A retrier from a closure that is given how often it was asked before.
struct ScriptedRetrier: Retrier {
    let decide: @Sendable (_ asked: Int, _ error: HttpError) async -> RetryDecision
    var asked = 0

    mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
        defer { asked += 1 }
        return await decide(asked, error)
    }

    static func factory(
        _ decide: @escaping @Sendable (_ asked: Int, _ error: HttpError) async -> RetryDecision
    ) -> AnyRetrierFactory {
        AnyRetrierFactory { ScriptedRetrier(decide: decide) }
    }
}
