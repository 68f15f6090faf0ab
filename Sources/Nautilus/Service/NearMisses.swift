import Foundation

/// Finds stored properties of a service or a request that look like one of its rules and are none.
///
/// A property whose type is not exactly the protocol's does not fulfil the requirement, and the default stays in force:
/// `let timeout: Duration` of a request, whose rule is a `Duration?`, or a service's
/// `let retrierFactory = BackoffRetrier.factory()`, whose rule is an `any RetrierFactory`. The compiler warns of it where
/// the conformance is declared in an extension, and not for every stored property.
struct NearMisses {
    /// The rule that a stored property was most probably meant to be.
    struct Rule {
        /// The name of the requirement.
        let name: String
        /// The type to declare it with.
        let type: String
        /// Other names that people give it.
        var otherNames: [String] = []
        /// Whether a value of a property of the rule's name shows that it is another property.
        let isMissed: (Any) -> Bool
        /// Whether the rule still has its default, so that a property of another name may have been meant.
        var isDefault: () -> Bool = { false }
    }

    let owner: Any.Type
    let rules: [Rule]
    let mirror: Mirror

    /// The rules of a service; a wrapped service is another one's, see ``findings(of:)``.
    private init<S: HttpService>(service: S) {
        owner = S.self
        mirror = Mirror(reflecting: service)
        rules = [
            Rule("usesSecureProtocol", Bool.self),
            Rule("header", HttpHeader.self, otherNames: ["headers"]) { service.header.isEmpty },
            Rule(name: "interceptors", type: "[any HttpInterceptor]", otherNames: ["interceptor"]) {
                !($0 is [any HttpInterceptor])
            } isDefault: {
                service.interceptors.isEmpty
            },
            Rule(name: "retrierFactory", type: "any RetrierFactory", otherNames: ["retrier", "retriers"]) {
                Self.kind(of: $0) != Self.kind(of: service.retrierFactory)
            } isDefault: {
                Self.kind(of: service.retrierFactory) == Self.kind(of: NilRetrier.factory())
            },
            Rule("hedging", Hedging?.self),
            Rule(name: "hook", type: "any ServiceHook") { Self.isOther($0, than: service.hook) },
            Rule(name: "observer", type: "any CallObserver") { Self.isOther($0, than: service.observer) },
            Rule(name: "transport", type: "any HttpTransport") { Self.isOther($0, than: service.transport) },
            Rule(name: "webSocketTransport", type: "any WebSocketTransport") {
                Self.isOther($0, than: service.webSocketTransport)
            },
            Rule(name: "clock", type: "any Clock<Duration>") { Self.isOther($0, than: service.clock) },
            Rule("maxAttempts", Int.self),
            Rule("coders", JsonCoders.self),
        ]
    }

    /// The rules of a request, apart from those whose names a request's own data often has: `query`, `body` and `url` are
    /// looked at only where their types are those that other libraries have for them.
    private init<R: Request>(request: R) {
        owner = R.self
        mirror = Mirror(reflecting: request)
        rules = [
            Rule("usesSecureProtocol", Bool?.self),
            Rule("header", HttpHeader.self, otherNames: ["headers"]) { request.header.isEmpty },
            Rule(name: "query", type: "HttpQuery") { $0 is [String: Any] || $0 is [URLQueryItem] },
            Rule(name: "body", type: "HttpBody") { $0 is Data },
            Rule("acceptedStatusCodes", HttpStatusCodes.self),
            Rule("timeout", Duration?.self),
            Rule("deadline", Duration?.self),
            Rule("streamsResponse", Bool.self),
            Rule("allowsHedging", Bool.self),
            Rule("allowsBodyAcrossOrigins", Bool.self),
        ]
    }

    /// The findings for a service, and for those that it wraps.
    static func findings(of service: some HttpService) -> [PolicyFinding] {
        let own = NearMisses(service: service).findings
        guard let wrapping = service as? any ForwardingService else { return own }
        return own + findings(of: wrapping.forwarded)
    }

    /// The findings for a request.
    static func findings(of request: some Request) -> [PolicyFinding] { NearMisses(request: request).findings }

    private var findings: [PolicyFinding] {
        mirror.children.compactMap { child in
            guard let label = child.label, let rule = rules.first(where: { $0.isMissed(by: label, child.value) }) else {
                return nil
            }
            return .notTheRule(
                property: "\(label): \(type(of: child.value))",
                of: "\(owner)",
                rule: "\(rule.name): \(rule.type)"
            )
        }
    }

    /// What a factory makes, as far as its type tells.
    private static func kind(of factory: Any) -> ObjectIdentifier {
        ObjectIdentifier((factory as? AnyRetrierFactory)?.baseType ?? type(of: factory))
    }

    /// Whether a stored value is not the one that the rule gives.
    private static func isOther(_ stored: Any, than rule: Any) -> Bool {
        guard type(of: stored) == type(of: rule) else { return true }
        guard type(of: stored) is AnyClass else { return false }
        return (stored as AnyObject) !== (rule as AnyObject)
    }
}

extension NearMisses.Rule {
    /// A rule whose type is the same for all.
    fileprivate init<Value>(
        _ name: String,
        _ type: Value.Type,
        otherNames: [String] = [],
        isDefault: @escaping () -> Bool = { false }
    ) {
        // Written as people write it: `Optional<Duration>` is `Duration?`.
        let text = "\(type)".replacing(/Optional<(\w+)>/) { "\($0.1)?" }
        self.init(
            name: name,
            type: text,
            otherNames: otherNames,
            isMissed: { Swift.type(of: $0) != type },
            isDefault: isDefault
        )
    }

    fileprivate func isMissed(by label: String, _ value: Any) -> Bool {
        label == name ? isMissed(value) : otherNames.contains(label) && isDefault()
    }
}

/// Tells once for each type of service and of request which of its stored properties look like a rule and are none.
///
/// The calls of a debug build ask it; in a release build there is none of it.
final class NearMissWarnings: Sendable {
    /// The warnings of the process, on its standard error.
    static let shared = NearMissWarnings { FileHandle.standardError.write(Data("Nautilus: \($0)\n".utf8)) }

    /// The types that have been looked at.
    private let seen = Locked<Set<ObjectIdentifier>>([])
    private let write: @Sendable (String) -> Void

    init(write: @escaping @Sendable (String) -> Void) {
        self.write = write
    }

    /// Looks at both, unless it has before.
    func check<R: Request>(_ service: any HttpService, _ request: R) {
        if isNew(R.self) { warn(NearMisses.findings(of: request)) }
        // The types that wrap a service are few, and the same for all.
        var service = service
        while let wrapping = service as? any ForwardingService { service = wrapping.forwarded }
        if isNew(type(of: service)) { warn(NearMisses.findings(of: service)) }
    }

    /// Whether a type has been looked at.
    func hasSeen(_ type: Any.Type) -> Bool { seen.withLock { $0.contains(ObjectIdentifier(type)) } }

    private func isNew(_ type: Any.Type) -> Bool { seen.withLock { $0.insert(ObjectIdentifier(type)).inserted } }

    private func warn(_ findings: [PolicyFinding]) {
        for finding in findings { write(finding.description) }
    }
}
