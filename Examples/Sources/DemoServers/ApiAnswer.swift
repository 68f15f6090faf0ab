import Foundation

/// An answer of the routes.
struct ApiAnswer: Sendable {
    var status: Int
    var header: [String: String] = [:]
    var body = Data()

    static func json(_ status: Int, _ value: some Encodable) -> ApiAnswer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.keyEncodingStrategy = .convertToSnakeCase
        // Nothing that the routes encode can fail; should it ever, the client sees an empty body and says so.
        let body = (try? encoder.encode(value)) ?? Data()
        return ApiAnswer(status: status, header: ["Content-Type": "application/json"], body: body)
    }

    /// A failure in the form of RFC 6749 §5.2, which the notes use, too.
    static func failure(_ status: Int, _ error: String, header: [String: String] = [:]) -> ApiAnswer {
        var answer = json(status, ["error": error])
        answer.header.merge(header) { $1 }
        return answer
    }

    /// RFC 6750 §3.1: without a token the challenge has no error; with one, it says that the token is the trouble.
    static func unauthorized(hasToken: Bool) -> ApiAnswer {
        let challenge = hasToken ? #"Bearer realm="notes", error="invalid_token""# : #"Bearer realm="notes""#
        return failure(401, "invalid_token", header: ["WWW-Authenticate": challenge])
    }
}
