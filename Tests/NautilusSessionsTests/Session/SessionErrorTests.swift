import Foundation
import Nautilus
import NautilusSessions
import Testing

@Suite("SessionError")
struct SessionErrorTests {
    private static let kinds: [SessionError.Kind] = [
        .store(.full(place: "a")), .lockTimeout(.seconds(30)), .storeTimeout(.seconds(30)), .superseded, .expired,
        .notRevoked, .cancelled,
    ]

    /// An error of an app, the text of which was not checked.
    private struct AppError: Error, CustomStringConvertible {
        let description = "s3cret"
    }

    @Test("only a SessionError that passes by itself is transient", arguments: kinds)
    func isTransient(kind: SessionError.Kind) {
        // A revocation that has no error underneath was not answered in time.
        let passing: [SessionError.Kind] = [.lockTimeout(.seconds(30)), .storeTimeout(.seconds(30)), .notRevoked]
        #expect(SessionError(kind).isTransient == passing.contains(kind))
    }

    @Test("a revocation that failed for now is transient, and says when to try again")
    func revocation() {
        let call = HttpError(.status(503), stage: .validate, retryAfter: .seconds(7))
        #expect(SessionError(.notRevoked, underlying: call).isTransient)
        #expect(SessionError(.notRevoked, underlying: call).retryAfter == .seconds(7))
        #expect(!SessionError(.notRevoked, underlying: AppError()).isTransient)
    }

    @Test("every kind has a sentence of its own, which every way of printing shows", arguments: kinds)
    func sentence(kind: SessionError.Kind) {
        let error = SessionError(kind)
        #expect(error.description.count > 20)
        #expect(Self.kinds.filter { SessionError($0).description == error.description } == [kind])
        #expect(error.debugDescription == error.description)
        #expect(error.localizedDescription == error.description)
        var dumped = ""
        dump(error, to: &dumped)
        #expect(dumped.contains(error.description))
    }

    @Test("a sentence says what to do about it, and of an app's error only its type")
    func text() {
        #expect(
            SessionError(.lockTimeout(.milliseconds(1500))).description
                == "Another process has held the credential's lock for more than 1.500 s; try again later."
        )
        let call = HttpError(.status(503), stage: .validate)
        #expect(
            SessionError(.notRevoked, underlying: call).description == """
                The user is signed out, but the server was not told (A request failed: status 503); it is tried again if that \
                can help.
                """
        )
        let error = SessionError(.notRevoked, underlying: AppError())
        var dumped = ""
        dump(error, to: &dumped)
        for text in ["\(error)", String(reflecting: error), dumped] {
            #expect(text.contains("AppError") && !text.contains("s3cret"))
        }
    }
}
