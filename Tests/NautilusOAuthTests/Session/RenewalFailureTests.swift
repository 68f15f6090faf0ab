import Foundation
import NautilusSessions
import Testing

@testable import Nautilus
@testable import NautilusOAuth

@Suite("The meaning of a token request's failure for its session")
struct RenewalFailureTests {
    @Test("the server's word ends it, what may have been answered keeps the note, and all else takes it back")
    func kinds() {
        #expect(RenewalFailure(of: OAuthError(.invalidGrant)) == .ended)
        #expect(RenewalFailure(of: OAuthError(.answerLost)) == .answerLost)
        #expect(RenewalFailure(of: OAuthError(.unavailable)) == .notRenewed)
    }

    @Test(
        "a cancelled one may have been answered, unless nothing of it was sent",
        arguments: [
            (Delivery.notSent, RenewalFailure.notRenewed), (.rejected, .unclear), (.maybeExecuted, .unclear),
        ]
    )
    func cancelled(delivery: Delivery, meaning: RenewalFailure) {
        let error = HttpError(.cancelled, stage: .send, delivery: delivery)
        #expect(RenewalFailure(of: OAuthError(.cancelled, httpError: error)) == meaning)
        #expect(RenewalFailure(of: OAuthError(.cancelled)) == .notRenewed)
    }
}
