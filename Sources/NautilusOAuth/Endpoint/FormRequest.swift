import Foundation
import Nautilus

/// A form on its way to the authorization server.
///
/// It has no `Idempotency-Key`, and must not get one: it is a POST that is repeated only where it certainly did not run,
/// and a refresh token that is spent twice ends the session (RFC 9700 §4.14.2).
struct FormRequest: Request {
    typealias Result = Data

    let form: TokenForm
    let header: HttpHeader
    let timeout: Duration?
    let deadline: Duration?

    var method: HttpMethod { .post }
    var body: HttpBody { .form(form.query) }

    /// Redirects are answers, so that they are not followed: 307 and 308 would carry the form, with all that is secret
    /// in it, to wherever they lead.
    var acceptedStatusCodes: HttpStatusCodes { [.success, HttpStatusCodes(300...399)] }
}
