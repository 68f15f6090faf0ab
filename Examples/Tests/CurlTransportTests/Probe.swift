import Nautilus

/// A request without result, made of what a test needs.
struct Probe: Request {
    typealias Result = Void
    var method = HttpMethod.get
    var route: HttpRoute = ["probe"]
    var header: HttpHeader = [:]
    var body = HttpBody.empty
    var timeout: Duration?
}
