import Foundation
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("B16: which failures reject the credential")
struct HttpErrorCredentialTests {
    private static func error(
        status: Int = 401,
        sentTo url: String = "https://api.example.com/notes",
        answeredBy answer: String? = "https://api.example.com/notes",
        challenge: String? = nil
    ) throws -> HttpError {
        let request = HttpRequest(url: try #require(URL(string: url)))
        var header = HttpHeader()
        header[.wwwAuthenticate] = challenge
        return HttpError(
            .status(status),
            stage: .validate,
            request: RequestSummary(request, serviceOrigin: try testOrigin()),
            response: HttpResponse(
                status: status,
                header: header,
                body: Data(),
                url: try answer.map { try #require(URL(string: $0)) }
            )
        )
    }

    @Test(
        "a 401 of the service's own origin does, whatever else it asks for",
        arguments: [
            nil, "Bearer", #"Bearer error="invalid_token""#, "Basic realm=x", "garbage=,=",
            #"Basic error="insufficient_scope""#,
        ]
    )
    func rejected(challenge: String?) throws {
        #expect(try Self.error(challenge: challenge).rejectsCredential)
    }

    @Test(
        "B16: a rejection for insufficient_scope does not ask for another credential",
        arguments: [
            #"Bearer error="insufficient_scope", scope="a b""#, "bearer ERROR=insufficient_scope",
            #"Basic realm="a, b", Bearer error="insufficient_scope""#,
        ]
    )
    func insufficientScope(challenge: String) throws {
        #expect(try !Self.error(challenge: challenge).rejectsCredential)
    }

    @Test("an authentication of the user that is not enough does not: a refresh changes nothing of it (RFC 9470 §3)")
    func insufficientAuthentication() throws {
        let challenge = #"Bearer error="insufficient_user_authentication", acr_values="gold", max_age="60""#
        #expect(try !Self.error(challenge: challenge).rejectsCredential)
    }

    @Test("B16: no other status rejects the credential", arguments: (100...599).filter { $0 != 401 })
    func statuses(status: Int) throws {
        #expect(try !Self.error(status: status).rejectsCredential)
    }

    @Test(
        "B16: a request to another origin does not",
        arguments: ["https://other.example.com", "http://api.example.com", "https://api.example.com:8443"]
    )
    func otherOrigin(url: String) throws {
        #expect(try !Self.error(sentTo: url, answeredBy: url).rejectsCredential)
        #expect(try !Self.error(answeredBy: url).rejectsCredential, "a redirect has led there")
        #expect(try !Self.error(sentTo: url).rejectsCredential, "a redirect has led back")
    }

    @Test("an answer of unknown origin counts as the service's own; a failure without one never")
    func unknownOrigin() throws {
        #expect(try Self.error(answeredBy: nil).rejectsCredential)
        var error = try Self.error()
        error.response = nil
        #expect(!error.rejectsCredential)
        error = try Self.error()
        error.request = nil
        #expect(!error.rejectsCredential)
    }
}
