import Foundation

/// A stored property with the name of a rule and another type, so that the rule keeps its default: a request's
/// `let timeout: Duration`, where the rule is a `Duration?`.
///
/// The compiler warns of such computed properties in the extension that declares the conformance, but never of stored ones.
package struct NearMiss: CustomStringConvertible {
    private let property: String
    private let owner: String
    private let rule: String

    package init(property: String, of owner: String, rule: String) {
        (self.property, self.owner, self.rule) = (property, owner, rule)
    }

    package var description: String {
        """
        `\(property)` of \(owner) is not the rule `\(rule)`, whose default stays in force: declare it with that name and type
        """
    }
}

/// A rule of a service or a request, as a stored property with its name may miss it.
package struct StoredRule {
    package let name: String
    /// The type to declare it with.
    package let type: String
    /// Whether a stored property with this value does not fulfil the rule.
    package let isMissed: (Any) -> Bool

    package init(_ name: String, _ type: String, isMissed: @escaping (Any) -> Bool) {
        (self.name, self.type, self.isMissed) = (name, type, isMissed)
    }

    /// A rule that every property with its name misses unless it has exactly this type.
    private init<Value>(_ name: String, _ type: Value.Type) {
        // Written as people write it: `Optional<Duration>` is `Duration?`.
        self.init(name, "\(type)".replacing(/Optional<(\w+)>/) { "\($0.1)?" }) { Swift.type(of: $0) != type }
    }

    /// A rule whose value may have any type that conforms: missed by every value that is not the rule's own.
    private init(_ name: String, _ type: String, is value: @autoclosure @escaping () -> Any) {
        self.init(name, type) { stored in
            let value = value()
            guard Swift.type(of: stored) == Swift.type(of: value) else { return true }
            return ObjectIdentifier(ofAny: stored) != ObjectIdentifier(ofAny: value)
        }
    }

    package static func rules(of service: some HttpService) -> [StoredRule] {
        [
            StoredRule("usesSecureProtocol", Bool.self), StoredRule("header", HttpHeader.self),
            StoredRule("interceptors", "[any HttpInterceptor]") { Swift.type(of: $0) != [any HttpInterceptor].self },
            StoredRule("retrierFactory", "any RetrierFactory") { stored in
                let factory = service.retrierFactory
                guard let stored = stored as? any RetrierFactory, Swift.type(of: stored) == Swift.type(of: factory)
                else { return true }
                return stored.sharingKey != factory.sharingKey
            },
            StoredRule("hook", "any ServiceHook", is: service.hook),
            StoredRule("observer", "any CallObserver", is: service.observer),
            StoredRule("transport", "any HttpTransport", is: service.transport),
            StoredRule("webSocketTransport", "any WebSocketTransport", is: service.webSocketTransport),
            StoredRule("clock", "any Clock<Duration>", is: service.clock),
            StoredRule("maxAttempts", Int.self), StoredRule("coders", JsonCoders.self),
            StoredRule("retryAfterField", RetryAfterField?.self),
            StoredRule("timeout", Duration?.self), StoredRule("deadline", Duration?.self),
        ]
    }

    /// The rules of a request or, if the value is none, of a web socket's request.
    ///
    /// A request's own data may have the name of a rule, such as a ticket's `priority: Int` or a bookmark's `url: URL`. So the
    /// rules whose names are common are missing, or are missed only by a value that other libraries have for the rule.
    package static func rules(ofRequest request: Any) -> [StoredRule] {
        let shared = [
            StoredRule("query", "HttpQuery") { $0 is [String: Any] || $0 is [URLQueryItem] },
            StoredRule("header", HttpHeader.self), StoredRule("timeout", Duration?.self),
            StoredRule("usesSecureProtocol", Bool?.self),
        ]
        guard request is any Request else { return shared + [StoredRule("subprotocols", [String].self)] }
        return shared + [
            StoredRule("method", "HttpMethod") { value in
                (value as? String).map { ["POST", "PUT", "PATCH", "DELETE"].contains($0.uppercased()) } ?? false
            },
            StoredRule("body", "HttpBody") { $0 is Data },
            StoredRule("acceptedStatusCodes", HttpStatusCodes.self), StoredRule("deadline", Duration?.self),
            StoredRule("streamsResponse", Bool.self), StoredRule("isAnonymous", Bool.self),
            StoredRule("allowsHedging", Bool.self), StoredRule("allowsBodyAcrossOrigins", Bool.self),
        ]
    }
}

/// Warnings that are given once for each type of service or of request.
///
/// Only calls in a debug build use them; a release build gives no warnings.
package final class TypeWarnings: Sendable {
    /// The types that have been checked.
    private let seen = Locked<Set<ObjectIdentifier>>([])
    package let write: @Sendable (String) -> Void

    /// - Parameter write: Writes a warning. Default: on standard error.
    package init(
        write: @escaping @Sendable (String) -> Void = {
            FileHandle.standardError.write(Data("Nautilus: \($0)\n".utf8))
        }
    ) {
        self.write = write
    }

    /// Whether a type is checked for the first time.
    package func isNew(_ type: Any.Type) -> Bool { seen.withLock { $0.insert(ObjectIdentifier(type)).inserted } }

    /// Whether a type has been checked.
    package func hasSeen(_ type: Any.Type) -> Bool { seen.withLock { $0.contains(ObjectIdentifier(type)) } }
}

extension TypeWarnings {
    /// The process's warnings of stored properties that are near misses.
    static let nearMisses = TypeWarnings()

    /// Checks both types for near misses, unless it has checked them before.
    func check(_ service: ServiceConfiguration, _ request: some Request) {
        let request = (request as? any RequestOfAnother)?.innermost ?? request
        check(request, by: StoredRule.rules(ofRequest: request))
        check(service.declared, by: StoredRule.rules(of: service.declared))
    }

    private func check(_ owner: Any, by rules: @autoclosure () -> [StoredRule]) {
        guard isNew(type(of: owner)) else { return }
        let rules = rules()
        for child in sequence(first: Mirror(reflecting: owner), next: \.superclassMirror).flatMap(\.children) {
            guard let rule = rules.first(where: { $0.name == child.label }), rule.isMissed(child.value) else {
                continue
            }
            let property = "\(rule.name): \(type(of: child.value))"
            write("\(NearMiss(property: property, of: "\(type(of: owner))", rule: "\(rule.name): \(rule.type)"))")
        }
    }
}
