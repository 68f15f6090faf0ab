import Foundation

/// An answer of the routes.
package struct ApiAnswer: Sendable {
    package var status: Int
    package var header: [String: String]
    package var body: Data

    package init(status: Int, header: [String: String] = [:], body: Data = Data()) {
        self.status = status
        self.header = header
        self.body = body
    }

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

    static func methodNotAllowed(allowing methods: String) -> ApiAnswer {
        failure(405, "method_not_allowed", header: ["Allow": methods])
    }

    /// RFC 6750 §3.1: without a token the challenge has no error; with one, it says that the token is the trouble.
    static func unauthorized(hasToken: Bool) -> ApiAnswer {
        let challenge = hasToken ? #"Bearer realm="notes", error="invalid_token""# : #"Bearer realm="notes""#
        return failure(401, "invalid_token", header: ["WWW-Authenticate": challenge])
    }

    /// RFC 6750 §3.1: the token is good, but not for this.
    static func insufficientScope(_ needed: String) -> ApiAnswer {
        let challenge = #"Bearer error="insufficient_scope", scope="\#(needed)""#
        return failure(403, "insufficient_scope", header: ["WWW-Authenticate": challenge])
    }

    /// A page for people.
    ///
    /// - Parameter html: The text below the title; whatever came from outside is escaped by the caller.
    static func page(_ status: Int, title: String, html: String) -> ApiAnswer {
        let text = "<!doctype html>\n<html lang=\"en\"><title>\(title)</title><h1>\(title)</h1>\(html)</html>\n"
        let header = ["Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store"]
        return ApiAnswer(status: status, header: header, body: Data(text.utf8))
    }
}

extension ApiAnswer: Redacted {
    /// The status alone: bodies hold tokens, and redirects codes.
    package var description: String { "\(status)" }
}
