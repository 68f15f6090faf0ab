import Foundation
import NautilusSessions
import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusOAuth

@Suite("The meaning of a token request's failure for its session")
struct RefreshOutcomeTests {
    @Test("the server's word ends it, what may have been answered keeps the note, and all else takes it back")
    func kinds() {
        #expect(RefreshOutcome(of: OAuthError(.invalidGrant)) == .ended)
        #expect(RefreshOutcome(of: OAuthError(.answerLost)) == .answerLost)
        #expect(RefreshOutcome(of: OAuthError(.unavailable)) == .notRefreshed)
    }

    @Test(
        "a cancelled one may have been answered, unless nothing of it was sent",
        arguments: [
            (Delivery.notSent, RefreshOutcome.notRefreshed), (.rejected, .unclear), (.maybeExecuted, .unclear),
        ]
    )
    func cancelled(delivery: Delivery, meaning: RefreshOutcome) {
        let error = HttpError(.cancelled, stage: .send, delivery: delivery)
        #expect(RefreshOutcome(of: OAuthError(.cancelled, httpError: error)) == meaning)
        #expect(RefreshOutcome(of: OAuthError(.cancelled)) == .notRefreshed)
    }
}
