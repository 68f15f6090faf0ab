import Foundation

// A request's own data may have the name of a rule, or one of its other names: a ticket's `priority: Int`, a bookmark's
// `url: URL`. So a property with such a name is reported only if its value has a type that other libraries use for the
// rule, and the value in force cannot have been intended.
extension NearMisses {
    /// The rules of a service itself; a service that it wraps is checked separately. The compiler itself reports a
    /// missing `apiUrl`, which has no default.
    static func rules(of service: some HttpService) -> [Rule] {
        [
            Rule("usesSecureProtocol", Bool.self),
            Rule("header", HttpHeader.self, otherNames: ["headers"]) { _ in service.header.isEmpty },
            Rule(name: "interceptors", type: "[any HttpInterceptor]", otherNames: ["interceptor"]) {
                !($0 is [any HttpInterceptor])
            } isMeant: { _ in
                service.interceptors.isEmpty
            },
            Rule(name: "retrierFactory", type: "any RetrierFactory", otherNames: ["retrier", "retriers"]) {
                kind(of: $0) != kind(of: service.retrierFactory)
            } isMeant: { _ in
                kind(of: service.retrierFactory) == kind(of: NilRetrier.factory())
            },
            Rule("hedging", Hedging?.self),
            Rule(name: "hook", type: "any ServiceHook") { isOther($0, than: service.hook) },
            Rule(name: "observer", type: "any CallObserver") { isOther($0, than: service.observer) },
            Rule(name: "transport", type: "any HttpTransport") { isOther($0, than: service.transport) },
            Rule(name: "webSocketTransport", type: "any WebSocketTransport") {
                isOther($0, than: service.webSocketTransport)
            },
            Rule(name: "clock", type: "any Clock<Duration>") { isOther($0, than: service.clock) },
            Rule("maxAttempts", Int.self),
            Rule("coders", JsonCoders.self),
            Rule("retryAfterField", RetryAfterField?.self),
            Rule("timeout", Duration?.self, otherNames: ["timeoutInterval"]) {
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
            Rule(name: "method", type: "HttpMethod", otherNames: ["httpMethod"]) {
                isMethod($0, otherThan: request.method)
            } isMeant: {
                ($0 as? HttpMethod).map { $0 != request.method } ?? isMethod($0, otherThan: request.method)
            },
            Rule(name: "query", type: "HttpQuery", otherNames: ["parameters", "params", "queryItems"]) {
                isQuery($0)
            } isMeant: {
                // If there is a body, the parameters are most probably in it.
                (isQuery($0) || $0 is HttpQuery) && request.query.isEmpty && request.body.contentType == nil
            },
            Rule(name: "body", type: "HttpBody", otherNames: ["httpBody"]) {
                $0 is Data || type(of: $0) == HttpBody?.self
            } isMeant: {
                ($0 is Data || $0 is HttpBody) && request.body.contentType == nil
            },
            Rule("acceptedStatusCodes", HttpStatusCodes.self),
            Rule(name: "priority", type: "RequestPriority") {
                $0 is TaskPriority || $0 is Float || type(of: $0) == RequestPriority?.self
            },
            Rule("deadline", Duration?.self),
            Rule("streamsResponse", Bool.self),
            Rule("isForGuests", Bool.self),
            Rule("allowsHedging", Bool.self),
            Rule("allowsBodyAcrossOrigins", Bool.self),
            Rule("linkRelation", String.self),
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
            Rule(name: "query", type: "HttpQuery", otherNames: ["parameters", "params", "queryItems"]) {
                isQuery($0)
            } isMeant: {
                (isQuery($0) || $0 is HttpQuery) && request.query.isEmpty
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
            },
            Rule("usesSecureProtocol", Bool?.self),
            Rule("header", HttpHeader.self, otherNames: ["headers", "httpHeaders", "headerFields"]) { _ in
                header().isEmpty
            },
            Rule("timeout", Duration?.self, otherNames: ["timeoutInterval", "timeOut"]) { _ in
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
        isMeant: @escaping (Any) -> Bool = { _ in false }
    ) {
        // Written as people write it: `Optional<Duration>` is `Duration?`.
        let text = "\(type)".replacing(/Optional<(\w+)>/) { "\($0.1)?" }
        self.init(
            name: name,
            type: text,
            otherNames: otherNames,
            isMissed: { Swift.type(of: $0) != type },
            isMeant: isMeant
        )
    }
}
