import Foundation

// A request's own data may have the name of a rule, or one of its other names: a ticket's `priority: Int`, a bookmark's
// `url: URL`. So a property with such a name is reported only if its value has a type that other libraries use for the
// rule, and the value in force cannot have been intended.
extension NearMisses {
    /// The rules of a service itself; a service that it wraps is checked separately. The compiler itself reports a
    /// missing `apiUrl`, which has no default.
    static func rules(of service: some HttpService) -> [Rule] {
        let isWithoutRetries = { kind(of: service.retrierFactory) == kind(of: AnyRetrierFactory.never) }
        return [
            Rule("usesSecureProtocol", Bool.self),
            Rule("header", HttpHeader.self, otherNames: ["headers", "defaultHeaders", "defaultHeader"]) { _ in
                service.header.isEmpty
            } isItsOwn: {
                isHeader($0) && service.header.isEmpty
            },
            Rule(name: "interceptors", type: "[any HttpInterceptor]", otherNames: ["interceptor"]) {
                !($0 is [any HttpInterceptor])
            } isMeant: { _ in
                service.interceptors.isEmpty
            } isItsOwn: {
                ($0 as? [any HttpInterceptor])?.isEmpty == false && service.interceptors.isEmpty
            },
            Rule(
                name: "retrierFactory",
                type: "any RetrierFactory",
                otherNames: ["retrier", "retriers", "retryFactory", "retryPolicy"] + retryCounts
            ) {
                kind(of: $0) != kind(of: service.retrierFactory)
            } isMeant: { _ in
                isWithoutRetries()
            } isItsOwn: {
                $0 is any RetrierFactory && kind(of: $0) != kind(of: service.retrierFactory) && isWithoutRetries()
            },
            Rule(name: "hook", type: "any ServiceHook") { isOther($0, than: service.hook) },
            Rule(name: "observer", type: "any CallObserver", otherNames: ["observers", "callObserver"]) {
                isOther($0, than: service.observer)
            } isMeant: {
                ($0 is any CallObserver || $0 is [any CallObserver]) && service.observer is NilCallObserver
            },
            Rule(name: "transport", type: "any HttpTransport") { isOther($0, than: service.transport) },
            Rule(name: "webSocketTransport", type: "any WebSocketTransport") {
                isOther($0, than: service.webSocketTransport)
            },
            Rule(name: "clock", type: "any Clock<Duration>") { isOther($0, than: service.clock) },
            Rule("maxAttempts", Int.self, otherNames: retryCounts) {
                isUnusedCount($0, by: service)
            },
            Rule("coders", JsonCoders.self, otherNames: ["coder", "decoder", "encoder", "jsonDecoder", "jsonEncoder"]) {
                ($0 is JSONDecoder || $0 is JSONEncoder) && service.coders.carried == nil
            } isItsOwn: {
                ($0 as? JsonCoders)?.carried != nil && service.coders.carried == nil
            },
            Rule("retryAfterField", RetryAfterField?.self) { _ in
                false
            } isItsOwn: {
                $0 is RetryAfterField && service.retryAfterField == nil
            },
            Rule("timeout", Duration?.self, otherNames: ["timeoutInterval", "timeouts"]) {
                isTime($0) && service.timeout == .seconds(60)
            },
            Rule("deadline", Duration?.self) { isTime($0) && service.deadline == nil },
        ]
    }

    /// The rules of a request.
    static func rules(of request: some Request) -> [Rule] {
        let shared = rules(
            base: (request.url, request.route),
            header: { request.header },
            timeout: { request.timeout }
        )
        let json = request as? any JsonRequest
        return shared + [
            Rule(name: "method", type: "HttpMethod", otherNames: ["httpMethod", "verb"]) {
                isMethod($0, otherThan: request.method)
            } isMeant: {
                ($0 as? HttpMethod).map { $0 != request.method } ?? isMethod($0, otherThan: request.method)
            } isItsOwn: {
                ($0 as? HttpMethod).map { $0 != .get } == true && request.method == .get
            },
            Rule(name: "query", type: "HttpQuery", otherNames: parameterNames) {
                isQuery($0)
            } isMeant: {
                // If there is a body, the parameters are most probably in it.
                (isQuery($0) || $0 is HttpQuery) && request.query.isEmpty && request.body.contentType == nil
            } isItsOwn: {
                isFilledQuery($0) && request.query.isEmpty && request.body.contentType == nil
            },
            Rule(name: "body", type: "HttpBody", otherNames: ["httpBody", "requestBody"]) {
                $0 is Data || type(of: $0) == HttpBody?.self
            } isMeant: {
                ($0 is Data || $0 is HttpBody) && request.body.contentType == nil
            } isItsOwn: {
                ($0 as? HttpBody)?.contentType != nil && request.body.contentType == nil
            },
            Rule("acceptedStatusCodes", HttpStatusCodes.self, otherNames: statusNames) {
                // Numbers in a query or a body are data, of a search in a log for instance.
                isStatuses($0) && request.acceptedStatusCodes == .success && request.query.isEmpty
                    && request.body.contentType == nil
            } isItsOwn: {
                ($0 as? HttpStatusCodes).map { $0 != .success } == true && request.acceptedStatusCodes == .success
            },
            Rule(name: "priority", type: "RequestPriority") {
                $0 is TaskPriority || $0 is Float || type(of: $0) == RequestPriority?.self
            } isItsOwn: {
                ($0 as? RequestPriority).map { $0 != .normal } == true && request.priority == .normal
            },
            Rule("deadline", Duration?.self),
            Rule("streamsResponse", Bool.self),
            Rule("isAnonymous", Bool.self),
            Rule("allowsHedging", Bool.self),
            Rule("allowsBodyAcrossOrigins", Bool.self),
            Rule(name: "encoder", type: "JSONEncoder") { isCoder($0, JSONEncoder.self, otherThan: request.encoder) },
            Rule(name: "decoder", type: "JSONDecoder") { value in
                json.map { isCoder(value, JSONDecoder.self, otherThan: $0.decoder) } ?? false
            },
            Rule(name: "usesSnakeCase", type: "Bool") { json != nil && type(of: $0) != Bool.self },
        ]
    }

    /// The rules of a web socket's request.
    static func rules(of request: some StreamRequest) -> [Rule] {
        let shared = rules(
            base: (request.url, request.route),
            header: { request.header },
            timeout: { request.timeout }
        )
        let json = request as? any JsonStreamRequest
        return shared + [
            Rule(name: "query", type: "HttpQuery", otherNames: parameterNames) {
                isQuery($0)
            } isMeant: {
                (isQuery($0) || $0 is HttpQuery) && request.query.isEmpty
            } isItsOwn: {
                isFilledQuery($0) && request.query.isEmpty
            },
            Rule("subprotocols", [String].self, otherNames: ["subprotocol", "protocols"]) { _ in
                request.subprotocols.isEmpty
            },
            Rule(name: "encoder", type: "JSONEncoder") { value in
                json.map { isCoder(value, JSONEncoder.self, otherThan: $0.encoder) } ?? false
            },
            Rule(name: "decoder", type: "JSONDecoder") { value in
                json.map { isCoder(value, JSONDecoder.self, otherThan: $0.decoder) } ?? false
            },
        ]
    }

    /// The rules that requests and web sockets have in common.
    private static func rules(
        base: @autoclosure @escaping () -> (url: (any UrlConvertible)?, route: HttpRoute),
        header: @escaping () -> HttpHeader,
        timeout: @escaping () -> Duration?
    ) -> [Rule] {
        // A request with a route or a URL has its place already, so a property with such a name is its data.
        let isPlaceless = { base().url == nil && base().route.components.isEmpty }
        return [
            Rule(name: "url", type: "(any UrlConvertible)?", otherNames: ["baseURL", "baseUrl"]) {
                isUrl($0) && isPlaceless()
            } isMeant: {
                isUrl($0) && base().url == nil
            },
            // The compiler itself reports a route of another type, which has no default.
            Rule(name: "route", type: "HttpRoute", otherNames: ["path", "routes", "endpoint"]) { _ in
                false
            } isMeant: {
                (isPath($0) || $0 is HttpRoute) && isPlaceless()
            } isItsOwn: {
                ($0 as? HttpRoute)?.components.isEmpty == false && isPlaceless()
            },
            Rule("usesSecureProtocol", Bool?.self),
            Rule("header", HttpHeader.self, otherNames: ["headers", "httpHeaders", "headerFields"]) { _ in
                header().isEmpty
            } isItsOwn: {
                isHeader($0) && header().isEmpty
            },
            Rule("timeout", Duration?.self, otherNames: ["timeoutInterval", "timeOut", "timeouts"]) { _ in
                timeout() == .ofService
            },
        ]
    }
}

// MARK: - Evidence in values

extension NearMisses {
    /// Identifies what a factory makes, as far as the factory's type tells.
    private static func kind(of factory: Any) -> ObjectIdentifier {
        ObjectIdentifier((factory as? AnyRetrierFactory)?.baseType ?? type(of: factory))
    }

    /// Whether a stored value differs from the one that the rule has.
    private static func isOther(_ stored: Any, than rule: Any) -> Bool {
        guard type(of: stored) == type(of: rule) else { return true }
        guard type(of: stored) is AnyClass else { return false }
        return (stored as AnyObject) !== (rule as AnyObject)
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
    private static let retryCounts = ["maxRetries", "retryLimit"]

    // An empty value is the rule's default itself, so nothing is lost, and a computed rule may well return it.
    private static func isHeader(_ value: Any) -> Bool { (value as? HttpHeader)?.isEmpty == false }

    private static func isFilledQuery(_ value: Any) -> Bool { (value as? HttpQuery)?.isEmpty == false }

    private static func isStatuses(_ value: Any) -> Bool {
        value is HttpStatusCodes || value is Set<Int> || value is [Int] || value is Range<Int>
            || value is ClosedRange<Int>
    }

    /// Whether a number of retries is in no effect: the retriers say that they have another one.
    private static func isUnusedCount(_ value: Any, by service: some HttpService) -> Bool {
        let descriptions = service.retrierFactory.descriptions
        guard let count = value as? Int, service.maxAttempts == 100, !descriptions.isEmpty else { return false }
        return ![count, count &+ 1].contains(descriptions.maxAttempts)
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
    private static func isCoder<Coder: AnyObject>(
        _ value: Any,
        _ kind: Coder.Type,
        otherThan coder: Coder
    ) -> Bool {
        if let value = value as? Coder { return value !== coder }
        return type(of: value) == Coder?.self || value is PropertyListEncoder || value is PropertyListDecoder
    }
}

extension NearMisses.Rule {
    /// Creates a rule that every property of its name misses unless it has exactly this type.
    fileprivate init<Value>(
        _ name: String,
        _ type: Value.Type,
        otherNames: [String] = [],
        isMeant: @escaping (Any) -> Bool = { _ in false },
        isItsOwn: @escaping (Any) -> Bool = { _ in false }
    ) {
        // Written as people write it: `Optional<Duration>` is `Duration?`.
        let text = "\(type)".replacing(/Optional<(\w+)>/) { "\($0.1)?" }
        self.init(
            name: name,
            type: text,
            otherNames: otherNames,
            isMissed: { Swift.type(of: $0) != type },
            isMeant: isMeant,
            isItsOwn: isItsOwn
        )
    }
}
