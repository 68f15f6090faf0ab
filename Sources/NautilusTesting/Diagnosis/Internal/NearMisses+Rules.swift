import Foundation
import Nautilus
import NautilusStreams

// A request's own data may have the name of a rule, or one of its other names: a ticket's `priority: Int`, a bookmark's
// `url: URL`. So a property with such a name is reported only if its value has a type that other libraries use for the
// rule, and the value in force cannot have been intended.
extension NearMisses {
    /// The rules of a service itself; a service that it wraps is checked separately. The compiler itself reports a
    /// missing `apiUrl`, which has no default.
    static func rules(of service: some HttpService) -> [Rule] {
        StoredRule.rules(of: service).map { rule in
            switch rule.name {
            case "header":
                Rule(stored: rule, otherNames: ["headers", "defaultHeaders", "defaultHeader"]) { _ in
                    service.header.isEmpty
                } isItsOwn: {
                    isHeader($0) && service.header.isEmpty
                }
            case "interceptors":
                Rule(stored: rule, otherNames: ["interceptor"]) { _ in
                    service.interceptors.isEmpty
                } isItsOwn: {
                    ($0 as? [any HttpInterceptor])?.isEmpty == false && service.interceptors.isEmpty
                }
            case "retrierFactory":
                Rule(stored: rule, otherNames: ["retrier", "retriers", "retryFactory", "retryPolicy"] + retryCounts) {
                    _ in
                    isWithoutRetries(service)
                } isItsOwn: {
                    $0 is any RetrierFactory && rule.isMissed($0) && isWithoutRetries(service)
                }
            case "observer":
                Rule(stored: rule, otherNames: ["observers", "callObserver"]) {
                    ($0 is any CallObserver || $0 is [any CallObserver]) && service.observer is NilCallObserver
                }
            case "maxAttempts":
                Rule(stored: rule, otherNames: retryCounts) { isUnusedCount($0, by: service) }
            case "coders":
                Rule(stored: rule, otherNames: ["coder", "decoder", "encoder", "jsonDecoder", "jsonEncoder"]) {
                    ($0 is JSONDecoder || $0 is JSONEncoder) && service.coders.carried == nil
                } isItsOwn: {
                    ($0 as? JsonCoders)?.carried != nil && service.coders.carried == nil
                }
            case "retryAfterField":
                Rule(stored: rule, isItsOwn: { $0 is RetryAfterField && service.retryAfterField == nil })
            case "timeout":
                Rule(stored: rule, otherNames: ["timeoutInterval", "timeouts"]) {
                    isTime($0) && service.timeout == .seconds(60)
                }
            default:
                Rule(stored: rule)
            }
        }
    }

    /// The rules of a request.
    static func rules(of request: some Request) -> [Rule] {
        let shared = rules(of: request, at: (request.url, request.route), request.header, request.timeout) {
            // If there is a body, the parameters are most probably in it.
            request.query.isEmpty && request.body.contentType == nil
        }
        let json = request as? any JsonRequest
        return shared.map { rule in
            switch rule.name {
            case "method":
                Rule(
                    stored: rule.stored,
                    isAlsoMissed: { isMethod($0, otherThan: request.method) },
                    otherNames: methodNames
                ) {
                    ($0 as? HttpMethod).map { $0 != request.method } ?? isMethod($0, otherThan: request.method)
                } isItsOwn: {
                    ($0 as? HttpMethod).map { $0 != .get } == true && request.method == .get
                }
            case "body":
                Rule(
                    stored: rule.stored,
                    isAlsoMissed: { type(of: $0) == HttpBody?.self },
                    otherNames: ["httpBody", "requestBody"]
                ) {
                    ($0 is Data || $0 is HttpBody) && request.body.contentType == nil
                } isItsOwn: {
                    ($0 as? HttpBody)?.contentType != nil && request.body.contentType == nil
                }
            case "acceptedStatusCodes":
                Rule(stored: rule.stored, otherNames: statusNames) {
                    // Numbers in a query or a body are data, of a search in a log for instance.
                    isStatuses($0) && request.acceptedStatusCodes == .success && request.query.isEmpty
                        && request.body.contentType == nil
                } isItsOwn: {
                    ($0 as? HttpStatusCodes).map { $0 != .success } == true && request.acceptedStatusCodes == .success
                }
            default:
                rule
            }
        } + [
            Rule(
                stored: StoredRule("priority", "HttpRequest.Priority") {
                    $0 is TaskPriority || $0 is Float || type(of: $0) == HttpRequest.Priority?.self
                },
                isItsOwn: {
                    ($0 as? HttpRequest.Priority).map { $0 != .normal } == true && request.priority == .normal
                }
            ),
            Rule(stored: StoredRule("encoder", "JSONEncoder") { isCoder($0, otherThan: request.encoder) }),
            Rule(
                stored: StoredRule("decoder", "JSONDecoder") { value in
                    json.map { isCoder(value, otherThan: $0.decoder) } ?? false
                }
            ),
            Rule(stored: StoredRule("usesSnakeCase", "Bool") { json != nil && type(of: $0) != Bool.self }),
        ]
    }

    /// The rules of a web socket's request.
    static func rules(of request: some StreamRequest) -> [Rule] {
        let shared = rules(of: request, at: (request.url, request.route), request.header, request.timeout) {
            request.query.isEmpty
        }
        let json = request as? any JsonStreamRequest
        return shared.map { rule in
            guard rule.name == "subprotocols" else { return rule }
            return Rule(stored: rule.stored, otherNames: ["subprotocol", "protocols"]) { _ in
                request.subprotocols.isEmpty
            }
        } + [
            Rule(
                stored: StoredRule("encoder", "JSONEncoder") { value in
                    json.map { isCoder(value, otherThan: $0.encoder) } ?? false
                }
            ),
            Rule(
                stored: StoredRule("decoder", "JSONDecoder") { value in
                    json.map { isCoder(value, otherThan: $0.decoder) } ?? false
                }
            ),
        ]
    }

    /// The rules that requests and web sockets have in common, and the rest as a debug build knows them.
    ///
    /// - Parameter lacksQuery: Whether the request has no parameters.
    private static func rules(
        of request: Any,
        at base: (url: (any UrlConvertible)?, route: HttpRoute),
        _ header: HttpHeader,
        _ timeout: Duration?,
        lacksQuery: @escaping () -> Bool
    ) -> [Rule] {
        // A request with a route or a URL has its place already, so a property with such a name is its data.
        let isPlaceless = base.url == nil && base.route.components.isEmpty
        return StoredRule.rules(ofRequest: request).map { rule in
            switch rule.name {
            case "query":
                Rule(stored: rule, isAlsoMissed: { type(of: $0) == HttpQuery?.self }, otherNames: parameterNames) {
                    (isQuery($0) || $0 is HttpQuery) && lacksQuery()
                } isItsOwn: {
                    ($0 as? HttpQuery)?.isEmpty == false && lacksQuery()
                }
            case "header":
                Rule(stored: rule, otherNames: ["headers", "httpHeaders", "headerFields"]) { _ in
                    header.isEmpty
                } isItsOwn: {
                    isHeader($0) && header.isEmpty
                }
            case "timeout":
                Rule(stored: rule, otherNames: ["timeoutInterval", "timeOut", "timeouts"]) { _ in timeout == .ofService
                }
            default:
                Rule(stored: rule)
            }
        } + [
            Rule(
                stored: StoredRule("url", "(any UrlConvertible)?") { isUrl($0) && isPlaceless },
                otherNames: ["baseURL", "baseUrl"],
                isMeant: { isUrl($0) && base.url == nil }
            ),
            // The compiler itself reports a route of another type, which has no default.
            Rule(stored: StoredRule("route", "HttpRoute") { _ in false }, otherNames: ["path", "routes", "endpoint"]) {
                (isPath($0) || $0 is HttpRoute) && isPlaceless
            } isItsOwn: {
                ($0 as? HttpRoute)?.components.isEmpty == false && isPlaceless
            },
        ]
    }
}

// MARK: - Evidence in values

extension NearMisses {
    private static func isWithoutRetries(_ service: some HttpService) -> Bool {
        service.retrierFactory.sharingKey == AnyRetrierFactory.never.sharingKey
    }

    private static func isUrl(_ value: Any) -> Bool { value is String || value is URL || type(of: value) == URL?.self }

    private static func isPath(_ value: Any) -> Bool {
        value is String || value is URL || value is [Any] || type(of: value) == HttpRoute?.self
    }

    private static func isQuery(_ value: Any) -> Bool {
        value is [String: Any] || value is [URLQueryItem] || type(of: value) == HttpQuery?.self
    }

    private static let parameterNames = ["parameters", "params", "queryItems", "queryParameters", "queryParams"]
    private static let statusNames = ["statusCodes", "acceptedStatuses", "validStatusCodes", "acceptableStatusCodes"]
    private static let methodNames = ["httpMethod", "verb"]
    private static let retryCounts = ["maxRetries", "retryLimit"]

    // An empty value is the rule's default itself, so nothing is lost, and a computed rule may well return it.
    private static func isHeader(_ value: Any) -> Bool { (value as? HttpHeader)?.isEmpty == false }

    private static func isStatuses(_ value: Any) -> Bool {
        value is HttpStatusCodes || value is Set<Int> || value is [Int] || value is Range<Int>
            || value is ClosedRange<Int>
    }

    /// Whether a number of retries is in no effect: the retriers have another one.
    private static func isUnusedCount(_ value: Any, by service: some HttpService) -> Bool {
        let retriers = KnownRetrier.all(of: service.retrierFactory)
        guard let count = value as? Int, service.maxAttempts == 100, !retriers.policies.isEmpty else { return false }
        return ![count, count &+ 1].contains(retriers.maxAttempts)
    }

    private static func isTime(_ value: Any) -> Bool {
        value is Duration || value is TimeInterval || type(of: value) == Duration?.self
    }

    /// Whether a value spells a method: `"POST"`, or a case of an enumeration of methods.
    private static func isMethod(_ value: Any, otherThan method: HttpMethod) -> Bool {
        if type(of: value) == HttpMethod?.self { return true }
        guard type(of: value) != HttpMethod.self else { return false }
        let text = (value as? any RawRepresentable)?.rawValue as? String ?? "\(value)"
        let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY"]
        return known.contains(text.uppercased()) && text.uppercased() != method.rawValue
    }

    /// Whether a value is a coder, but not the one that the rule has.
    private static func isCoder<Coder: AnyObject>(_ value: Any, otherThan coder: Coder) -> Bool {
        if let value = value as? Coder { return value !== coder }
        return type(of: value) == Coder?.self || value is PropertyListEncoder || value is PropertyListDecoder
    }
}
