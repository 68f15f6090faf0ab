import Nautilus
import NautilusOAuth

/// The demo server's notes, for one session.
struct Notes: HttpService {
    let session: OAuthSession
    let origin: String
    let transport: any HttpTransport

    var apiUrl: any UrlConvertible { origin + "/v1" }
    // Without backoff: what a test does not expect shows at once.
    var retrierFactory: any RetrierFactory { session.authorization }
}

/// Asks for the first page; what is on it does not matter.
struct ReadNotes: Request {
    typealias Result = Void

    var route: HttpRoute { ["notes"] }
    var timeout: Duration? { nil }
}
