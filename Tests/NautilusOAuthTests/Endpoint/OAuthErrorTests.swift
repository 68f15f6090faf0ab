import Foundation
import Nautilus
import NautilusOAuth
import NautilusSessions
import Testing

@Suite("OAuthError")
struct OAuthErrorTests {
    private static let kinds: [OAuthError.Kind] = [
        .invalidGrant, .misconfigured(code: "invalid_client"), .accessDenied, .deviceCodeExpired, .unavailable,
        .answerLost, .malformedReply(reason: "it is no JSON object"), .stateMismatch, .issuerMismatch,
        .noEndpoint(name: "token_endpoint"), .insecureUrl, .invalidParameter(reason: "redirect_uri: it has a fragment"),
        .noRefreshToken, .insufficientScope(["notes.write"]), .insufficientScope([]), .cancelled,
    ]

    @Test("only a grant that is not good any more, and a missing refresh token, end a session", arguments: kinds)
    func endsSession(kind: OAuthError.Kind) {
        #expect(OAuthError(kind).endsSession == [.invalidGrant, .noRefreshToken].contains(kind))
    }

    @Test("only an OAuthError that passes by itself is transient", arguments: kinds)
    func isTransient(kind: OAuthError.Kind) {
        let transient: [OAuthError.Kind] = [.unavailable, .answerLost]
        #expect(OAuthError(kind).isTransient == transient.contains(kind))
    }

    @Test("every kind has a sentence of its own, which every way of printing shows", arguments: kinds)
    func sentence(kind: OAuthError.Kind) {
        let error = OAuthError(kind)
        #expect(error.description.count > 20)
        #expect(Self.kinds.filter { OAuthError($0).description == error.description } == [kind])
        #expect(error.debugDescription == error.description)
        #expect(error.errorDescription == error.description)
        #expect(error.localizedDescription == error.description)
        var dumped = ""
        dump(error, to: &dumped)
        #expect(dumped.contains(error.description))
    }

    @Test(
        "a sentence says what to do about it",
        arguments: [
            (.invalidGrant, "The sign-in is no longer good (invalid_grant); ask the user to sign in again."),
            (.unavailable, "The authorization server is not available; try again later."),
            (
                .insufficientScope(["a", "b"]),
                "The call needs more than the credential allows; sign in again with the scope \"a b\"."
            ),
        ] as [(OAuthError.Kind, String)]
    )
    func text(kind: OAuthError.Kind, text: String) {
        #expect(OAuthError(kind).description == text)
    }

    @Test("a failed refresh, and a revocation that failed, print it as their cause")
    func asCause() {
        let error = OAuthError(.unavailable, httpError: HttpError(.status(503), stage: .validate))
        let sentence =
            "The authorization server is not available; try again later. (A request failed: status 503)"
        #expect(
            RefreshError.failed(remaining: .seconds(1), underlying: error).description
                == "The credential could not be refreshed (\(sentence)); the next refresh may start in 1 s."
        )
        #expect(
            SessionError(.notRevoked, underlying: error).description
                == "The user is signed out, but the server was not told (\(sentence)); it is tried again if that can help."
        )
    }

    @Test("the failed call is named, without its body; the server's own words are kept and not printed")
    func call() {
        let response = HttpResponse(status: 400, body: Data("s3cret".utf8))
        let call = HttpError(.status(400), stage: .validate, response: response)
        let error = OAuthError(.misconfigured(code: "invalid_scope"), serverDescription: "s3cret", httpError: call)
        #expect(error.serverDescription == "s3cret")
        #expect(error.httpError?.status == 400)
        #expect(error.description.hasSuffix("(A request failed: status 400)"))
        var dumped = ""
        dump(error, to: &dumped)
        for text in [error.description, error.debugDescription, error.localizedDescription, "\(error)", dumped] {
            #expect(!text.contains("s3cret"))
        }
    }
}
