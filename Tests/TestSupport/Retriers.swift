import Nautilus

/// A retrier from a closure that is given how often it was asked before.
package struct ScriptedRetrier: Retrier {
    package let decide: @Sendable (_ asked: Int, _ error: HttpError) async -> RetryDecision
    package var asked = 0

    package mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
        defer { asked += 1 }
        return await decide(asked, error)
    }

    package static func factory(
        _ decide: @escaping @Sendable (_ asked: Int, _ error: HttpError) async -> RetryDecision
    ) -> AnyRetrierFactory {
        AnyRetrierFactory { ScriptedRetrier(decide: decide) }
    }

    package init(
        decide: @escaping @Sendable (_ asked: Int, _ error: HttpError) async -> RetryDecision
    ) {
        self.decide = decide
    }
}
