import Foundation
import Nautilus
import NautilusOAuth
import NotesAPI
import NotesOAuth
import Testing

@testable import notes

@Suite("notes: the meaning of failures")
struct MeaningTests {
    private static let account = NotesAccount(
        server: "https://notes.example",
        folder: URL(fileURLWithPath: "/tmp/my notes"),
        arguments: " --server https://notes.example"
    )

    @Test(
        "a refresh that the server does not answer, in the app's words and as an exit code",
        arguments: [
            (.insufficientScope(["notes.write"]), .forbidden, .signedOut),
            (.unavailable, .unavailable, .unavailable), (.answerLost, .unavailable, .unavailable),
            (.misconfigured(code: "invalid_client"), .unexpected, .failure),
            (.malformedReply(reason: "it is empty"), .unexpected, .failure), (.cancelled, .cancelled, .stopped),
        ] as [(OAuthError.Kind, NotesError.Reason, EndStatus)]
    )
    func server(_ kind: OAuthError.Kind, _ reason: NotesError.Reason, _ status: EndStatus) {
        let failure = HttpError(.authorization, stage: .prepare, underlying: OAuthError(kind))
        let error = NotesError(oauth: failure)
        #expect(error.reason == reason)
        #expect(Self.account.complaint(error).status == status)
    }

    @Test(
        "a session that fails, in the app's words and as an exit code",
        arguments: [
            (.superseded, .signedOut, .signedOut), (.expired, .signedOut, .signedOut),
            (.store(.full(place: "a")), .unavailable, .store), (.lockTimeout(.seconds(30)), .unavailable, .unavailable),
            (.storeTimeout(.seconds(30)), .unavailable, .store), (.cancelled, .cancelled, .stopped),
        ] as [(SessionError.Kind, NotesError.Reason, EndStatus)]
    )
    func session(_ kind: SessionError.Kind, _ reason: NotesError.Reason, _ status: EndStatus) {
        let failure = HttpError(.authorization, stage: .prepare, underlying: SessionError(kind))
        let error = NotesError(oauth: failure)
        #expect(error.reason == reason)
        #expect(Self.account.complaint(error).status == status)
    }

    @Test(
        "a call that fails, as an exit code",
        arguments: [
            (.status(404), .failure), (.status(403), .signedOut), (.status(503), .unavailable),
            (.transport(.cannotFindHost), .unavailable), (.timeout(.seconds(10)), .unavailable),
            (.decoding, .failure), (.cancelled, .stopped),
        ] as [(FailureKind, EndStatus)]
    )
    func call(_ kind: FailureKind, _ status: EndStatus) {
        let complaint = Self.account.complaint(NotesError(oauth: HttpError(kind, stage: .send)))
        #expect(complaint.status == status)
        #expect(!complaint.line.contains("\n"))
    }

    @Test(
        "a refresh that fails is told by its cause",
        arguments: [
            (.signedOut, .signedOut), (.sessionExpired(underlying: OAuthError(.invalidGrant)), .signedOut),
            (.superseded, .signedOut),
            (.failed(remaining: .seconds(1), underlying: SessionError(.store(.full(place: "a")))), .store),
            (.coolingDown(remaining: .seconds(1), underlying: OAuthError(.unavailable)), .unavailable),
            (.timedOut(limit: .seconds(60), remaining: nil), .unavailable),
            (.tooManyRefreshes(limit: 5, window: .zero, remaining: .zero), .unavailable),
        ] as [(RefreshError, EndStatus)]
    )
    func refresh(_ error: RefreshError, _ status: EndStatus) {
        let failure = HttpError(.authorization, stage: .prepare, underlying: error)
        #expect(Self.account.complaint(NotesError(oauth: failure)).status == status)
    }

    @Test(
        "a store that fails: the path, and what to do about it",
        arguments: [
            (.notPrivate(place: "my notes"), #"run "chmod 700 '/tmp/my notes'""#),
            (.damaged(place: "a.json"), #"run "notes login --server https://notes.example" to replace it"#),
            (.foreign(place: "a.json"), "a.json in '/tmp/my notes' is no credential"),
            (.newerFormat(place: "a.json", version: 9), "update it"), (.full(place: "a.json"), "make some"),
            (.notPermitted(place: "a.json"), "check who owns it"),
            (.system(operation: "open", place: "a.json", code: 5), "Input/output error"),
            (.other(type: "MyError"), "MyError"),
        ] as [(CredentialStoreError, String)]
    )
    func store(_ error: CredentialStoreError, _ words: String) {
        let complaint = Self.account.complaint(error)
        #expect(complaint.status == .store)
        #expect(complaint.line.contains("'/tmp/my notes'") && complaint.line.contains(words))
    }
}
