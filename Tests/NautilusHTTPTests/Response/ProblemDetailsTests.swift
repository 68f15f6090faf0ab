import Foundation
import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("The server's account of a refusal (RFC 9457)")
struct ProblemDetailsTests {
    private static func error(_ status: Int, _ type: String?, _ body: String) async -> HttpError? {
        var header: HttpHeader = [:]
        header[.contentType] = type
        let transport = ScriptedTransport(.reply(status: status, header: header, text: body))
        let service = AnyHttpService(apiUrl: "api.example.com", transport: transport)
        return await #expect(throws: HttpError.self) { try await GetNumber().schedule(with: service) }
    }

    private struct GetNumber: JsonRequest {
        typealias Result = Int
        var route: HttpRoute { [] }
    }

    @Test("all five members are read, and those of the server's own by their type")
    func members() async throws {
        struct Balance: Decodable, Sendable { let balance: Int }
        let body = """
            {"type": "https://example.com/out-of-credit", "title": "No credit.", "status": 403, "detail": "30 of 50.", \
            "instance": "/account/12345", "balance": 30}
            """
        let error = await Self.error(403, "application/problem+json; charset=utf-8", body)
        #expect(
            error?.problem
                == ProblemDetails(
                    type: "https://example.com/out-of-credit",
                    title: "No credit.",
                    status: 403,
                    detail: "30 of 50.",
                    instance: "/account/12345"
                )
        )
        #expect(error?.responseBody(as: Balance.self)?.balance == 30)
        #expect(error?.description.contains("credit") == false)
    }

    @Test(
        "F12a: a malformed parameter does not cost the server's account",
        arguments: [
            "application/problem+json;charset", "application/problem+json; charset=",
            "application/problem+json;x bogus",
            "application/problem+json; a=\"b", "application/problem+json, application/problem+json",
        ]
    )
    func malformedType(type: String) async {
        #expect(await Self.error(404, type, #"{"title": "Gone"}"#)?.problem == ProblemDetails(title: "Gone"))
    }

    @Test(
        "members of other types count as absent",
        arguments: [
            ("{}", ProblemDetails()),
            (#"{"type": 5, "title": null, "status": "403", "detail": ["x"]}"#, ProblemDetails()),
            (#"{"status": 404, "title": "Gone"}"#, ProblemDetails(title: "Gone", status: 404)),
        ]
    )
    func lenient(body: String, expected: ProblemDetails) async {
        #expect(await Self.error(400, "Application/Problem+JSON", body)?.problem == expected)
    }

    @Test(
        "there are no problem details in another type, in what is no object, and in a success",
        arguments: [
            (400, "application/json", "{}"), (400, nil, "{}"), (400, "application/problem+json", "[]"),
            (400, "application/problem+json", "secret"), (200, "application/problem+json", "{}"),
        ] as [(Int, String?, String)]
    )
    func none(status: Int, type: String?, body: String) async {
        let error = await Self.error(status, type, body)
        #expect(error != nil)
        #expect(error?.problem == nil)
    }
}
