import Foundation
import Nautilus
import NautilusStreams

/// Finds stored properties of a service or a request that look like one of its rules but are not.
///
/// It finds what the first call of a debug build warns of, and further those that have another name, or a type that only a
/// rule has.
struct NearMisses {
    /// The rule that a stored property was most probably meant to be.
    struct Rule {
        let stored: StoredRule
        /// Whether the value of a property with the rule's name shows in another way that it does not fulfil the rule.
        var isAlsoMissed: (Any) -> Bool = { _ in false }
        /// Other names that people give the rule.
        var otherNames: [String] = []
        /// Whether the value of a property with one of the other names was meant for the rule, which still has its
        /// default.
        var isMeant: (Any) -> Bool = { _ in false }
        /// Whether the value has a type that only this rule has, and another content than the rule, which still has its
        /// default. A property with such a value was meant for the rule, whatever its name.
        var isItsOwn: (Any) -> Bool = { _ in false }

        var name: String { stored.name }
        var type: String { stored.type }
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

    /// The findings for the declared request that `request` was made from, or for `request` itself.
    static func findings(of request: some Request) -> [PolicyFinding] {
        switch (request as? any RequestOfAnother)?.innermost ?? request {
        case let request as any Request: NearMisses(of: request, rules: rules(of: request)).findings
        case let request as any StreamRequest: findings(of: request)
        default: []
        }
    }

    /// The findings for the request of a web socket.
    static func findings(of request: some StreamRequest) -> [PolicyFinding] {
        NearMisses(of: request, rules: rules(of: request)).findings
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
            return rule.stored.isMissed(property.value) || rule.isAlsoMissed(property.value) ? rule : nil
        }
        return first { $0.otherNames.contains(property.name) && $0.isMeant(property.value) }
            ?? first { $0.isItsOwn(property.value) }
    }
}

extension NearMisses.Rule {
    fileprivate func hasType(_ text: String) -> Bool {
        let name = text.replacing("any ", with: "").replacing(/Optional<(.+)>/) { "\($0.1)?" }
        return name == type.replacing(/any |HttpRequest\./, with: "").replacing(/\((.+)\)\?/) { "\($0.1)?" }
    }
}
