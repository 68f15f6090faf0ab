import Foundation

/// Finds stored properties of a service or a request that look like one of its rules but are not.
///
/// A property whose type is not exactly the protocol's does not fulfil the requirement, and the default stays in force:
/// a request's `let timeout: Duration`, where the rule is a `Duration?`, or a service's
/// `let retrierFactory = BackoffRetrier.factory()`, where the rule is an `any RetrierFactory`. The compiler warns of
/// such computed properties in the extension that declares the conformance, but never of stored ones.
struct NearMisses {
    /// The rule that a stored property was most probably meant to be.
    struct Rule {
        /// The name of the requirement.
        let name: String
        /// The type to declare it with.
        let type: String
        /// Other names that people give the rule.
        var otherNames: [String] = []
        /// Whether the value of a property with the rule's name shows that it does not fulfil the rule.
        let isMissed: (Any) -> Bool
        /// Whether the value of a property with one of the other names was meant for the rule, which still has its
        /// default.
        var isMeant: (Any) -> Bool = { _ in false }
        /// Whether the value has a type that only this rule has, and another content than the rule, which still has its
        /// default. A property with such a value was meant for the rule, whatever its name.
        var isItsOwn: (Any) -> Bool = { _ in false }
    }

    private let owner: Any.Type
    private let mirror: Mirror
    private let rules: [Rule]

    private init(of owner: Any, rules: [Rule]) {
        self.owner = type(of: owner)
        self.mirror = Mirror(reflecting: owner)
        self.rules = rules
    }

    /// The findings for a service.
    static func findings(of service: some HttpService) -> [PolicyFinding] {
        NearMisses(of: service, rules: rules(of: service)).findings
    }

    static func findings(of request: some Request) -> [PolicyFinding] { findings(ofDeclared: declared(request)) }

    /// The findings for the request of a web socket.
    static func findings(of request: some StreamRequest) -> [PolicyFinding] { findings(ofDeclared: request) }

    /// The findings for a request of any kind; none for another value.
    fileprivate static func findings(ofDeclared request: Any) -> [PolicyFinding] {
        switch request {
        case let request as any Request: NearMisses(of: request, rules: rules(of: request)).findings
        case let request as any StreamRequest: NearMisses(of: request, rules: rules(of: request)).findings
        default: []
        }
    }

    /// The declared request that `request` was made from, or `request` itself.
    fileprivate static func declared(_ request: Any) -> Any {
        var request = request
        while let made = request as? any RequestOfAnother { request = made.declared }
        return request
    }

    private var findings: [PolicyFinding] {
        let isClass = owner is AnyClass
        return sequence(first: mirror, next: \.superclassMirror).flatMap(\.children).compactMap { child in
            guard let property = StoredProperty(child), let rule = rules.first(missedBy: property, ofClass: isClass)
            else { return nil }
            return .notTheRule(property: property.declaration, of: "\(owner)", rule: "\(rule.name): \(rule.type)")
        }
    }
}

/// A property as reflection shows it.
private struct StoredProperty {
    let name: String
    let value: Any
    /// The type that a lazy property is declared with, as text; nil for one that is not lazy.
    private(set) var lazyType: String?

    init?(_ child: Mirror.Child) {
        guard let label = child.label else { return nil }
        let lazyPrefix = "$__lazy_storage_$_"
        guard label.hasPrefix(lazyPrefix) else {
            (name, value) = (label, child.value)
            return
        }
        name = String(label.dropFirst(lazyPrefix.count))
        // The storage is an optional of the declared type, and nil until the property is first read.
        let storage = child.value as? any LazyStorage
        value = storage?.content ?? child.value
        lazyType = storage.map { "\(Swift.type(of: $0).contentType)" }
    }

    var declaration: String { lazyType.map { "lazy var \(name): \($0)" } ?? "\(name): \(type(of: value))" }
}

private protocol LazyStorage {
    static var contentType: Any.Type { get }
    var content: Any? { get }
}

extension Optional: LazyStorage {
    fileprivate static var contentType: Any.Type { Wrapped.self }
    fileprivate var content: Any? { map { $0 as Any } }
}

extension [NearMisses.Rule] {
    /// The rule that a property was most probably meant to be: by its name, or else by its type.
    fileprivate func first(missedBy property: StoredProperty, ofClass isClass: Bool) -> NearMisses.Rule? {
        if let rule = first(where: { $0.name == property.name }) {
            // Reading a lazy property changes a struct, so that it fulfils no rule there, not even with the right type.
            if let type = property.lazyType, rule.hasType(type) { return isClass ? nil : rule }
            return rule.isMissed(property.value) ? rule : nil
        }
        return first { $0.otherNames.contains(property.name) && $0.isMeant(property.value) }
            ?? first { $0.isItsOwn(property.value) }
    }
}

extension NearMisses.Rule {
    fileprivate func hasType(_ text: String) -> Bool {
        let name = text.replacing("any ", with: "").replacing(/Optional<(.+)>/) { "\($0.1)?" }
        return name == type.replacing("any ", with: "").replacing(/\((.+)\)\?/) { "\($0.1)?" }
    }
}

/// Warns once for each type of service and of request of stored properties that look like a rule but are not.
///
/// Only calls in a debug build use it; a release build gives no warnings.
package final class NearMissWarnings: Sendable {
    /// The warnings of the process, on its standard error.
    package static let shared = NearMissWarnings { FileHandle.standardError.write(Data("Nautilus: \($0)\n".utf8)) }

    /// The types that have been checked.
    private let seen = Locked<Set<ObjectIdentifier>>([])
    /// The types of services with a selection through which a refresh has gone.
    private let refreshing = Locked<Set<ObjectIdentifier>>([])
    private let write: @Sendable (String) -> Void

    init(write: @escaping @Sendable (String) -> Void) {
        self.write = write
    }

    /// Checks both types, unless it has checked them before.
    func check(_ service: ServiceConfiguration, _ request: some Request) {
        let declared = NearMisses.declared(request)
        if isNew(type(of: declared)) { warn(NearMisses.findings(ofDeclared: declared)) }
        if isNew(type(of: service.declared)) { warn(NearMisses.findings(of: service.declared)) }
    }

    /// Warns of a refresh that goes through a service with a selection, once for each type of service.
    ///
    /// - Parameters:
    ///   - service: The service, which has a selected service.
    ///   - isPartOfRefresh: Whether the call is part of a refresh.
    package func check(_ service: any HttpService, isPartOfRefresh: Bool) {
        guard isPartOfRefresh, refreshing.withLock({ $0.insert(ObjectIdentifier(type(of: service))).inserted }) else {
            return
        }
        write(
            """
            a refresh goes through \(type(of: service)), and so to whatever is selected by then, with a credential that may be \
            of another environment: have it go through the environment's own service
            """
        )
    }

    /// Whether a type has been checked.
    func hasSeen(_ type: Any.Type) -> Bool { seen.withLock { $0.contains(ObjectIdentifier(type)) } }

    /// Whether a refresh has gone through a service of this type.
    func hasWarned(ofRefreshThrough type: Any.Type) -> Bool {
        refreshing.withLock { $0.contains(ObjectIdentifier(type)) }
    }

    private func isNew(_ type: Any.Type) -> Bool { seen.withLock { $0.insert(ObjectIdentifier(type)).inserted } }

    private func warn(_ findings: [PolicyFinding]) {
        for finding in findings { write(finding.description) }
    }
}
