import Foundation
import Nautilus
import NotesAPI
import Testing

@Suite("The app's reaction to a failure")
struct NotesErrorTests {
    private struct Failure: Error {}

    private static let service = NotesService(.staging)

    @Test(
        "only the end of a session asks for a sign-in; a refresh that failed for now does not",
        arguments: [
            (.signedOut, .signedOut),
            (.sessionExpired(underlying: Failure()), .signedOut),
            (.superseded, .signedOut),
            (.failed(remaining: .seconds(1), underlying: Failure()), .unavailable),
            (.coolingDown(remaining: .seconds(1), underlying: Failure()), .unavailable),
            (.timedOut(limit: .seconds(30), remaining: .seconds(30)), .unavailable),
            (.tooManyRefreshes(limit: 5, window: .seconds(30), remaining: .seconds(1)), .unavailable),
            (.recursive, .unexpected),
        ] as [(RefreshError, NotesError.Reason)]
    )
    func authorization(error: RefreshError, expected: NotesError.Reason) {
        let failure = HttpError(.authorization, stage: .prepare, underlying: error)
        #expect(Self.service.mapError(failure).reason == expected)
    }

    @Test("a failed authorization that gives no reason signs nobody out")
    func authorizationWithoutReason() {
        #expect(Self.service.mapError(HttpError(.authorization, stage: .prepare)).reason == .unexpected)
    }

    @Test(
        "a 401 asks for a sign-in only where another token could help",
        arguments: [
            (origin: "https://staging.notes.example", challenge: nil, reason: .signedOut),
            (origin: "https://staging.notes.example", challenge: #"Bearer error="invalid_token""#, reason: .signedOut),
            (
                origin: "https://staging.notes.example", challenge: #"Bearer error="insufficient_scope""#,
                reason: .forbidden
            ),
            (origin: "https://notes.example", challenge: nil, reason: .forbidden),
        ] as [(origin: String, challenge: String?, reason: NotesError.Reason)]
    )
    func unauthorized(origin: String, challenge: String?, expected: NotesError.Reason) throws {
        let url = try #require(URL(string: origin + "/v1/notes"))
        let service = try #require(URL(string: NotesEnvironment.staging.origin).flatMap { HttpOrigin($0) })
        let header: HttpHeader = challenge.map { ["WWW-Authenticate": $0] } ?? [:]
        let failure = HttpError(
            .status(401),
            stage: .validate,
            request: RequestSummary(HttpRequest(url: url), serviceOrigin: service),
            response: HttpResponse(status: 401, header: header, body: Data(), url: url)
        )
        #expect(Self.service.mapError(failure).reason == expected)
    }

    @Test(
        "every other kind of failure has its reason",
        arguments: [
            (.status(403), .forbidden),
            (.status(404), .notFound),
            (.status(409), .unexpected),
            (.status(429), .unavailable),
            (.status(500), .unavailable),
            (.status(503), .unavailable),
            (.timeout(.seconds(10)), .unavailable),
            (.deadline(.seconds(25)), .unavailable),
            (.transport(.notConnectedToInternet), .offline),
            (.transport(.cannotFindHost), .offline),
            (.transport(.networkConnectionLost), .offline),
            (.transport(.secureConnectionFailed), .unexpected),
            (.transport(.serverCertificateUntrusted), .unexpected),
            (.transport(.serverCertificateHasBadDate), .unexpected),
            (.transport(.clientCertificateRejected), .unexpected),
            (.cancelled, .cancelled),
            (.decoding, .unexpected),
            (.custom, .unexpected),
        ] as [(FailureKind, NotesError.Reason)]
    )
    func kinds(kind: FailureKind, expected: NotesError.Reason) {
        #expect(Self.service.mapError(HttpError(kind, stage: .send)).reason == expected)
    }
}
