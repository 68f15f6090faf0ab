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
    }

    private let owner: Any.Type
    private let mirror: Mirror
    private let rules: [Rule]

    private init(of owner: Any, rules: [Rule]) {
        self.owner = type(of: owner)
        self.mirror = Mirror(reflecting: owner)
        self.rules = rules
    }

    /// The findings for a service, and for the services that it wraps.
    static func findings(of service: some HttpService) -> [PolicyFinding] {
        let own = NearMisses(of: service, rules: rules(of: service)).findings
        guard let wrapping = service as? any ForwardingService else { return own }
        return own + hiddenSelection(in: wrapping) + findings(of: wrapping.forwarded)
    }

    /// The finding for a service that wraps a ``ServiceSwitch`` without saying which service is selected: a call reads
    /// properties one by one, so a selection in between would mix two environments.
    fileprivate static func hiddenSelection(in service: any ForwardingService) -> [PolicyFinding] {
        guard service.hidesSelection else { return [] }
        return [.selectionHidden(by: "\(type(of: service))")]
    }

    /// The findings for a request, or for the declared request that it was made from.
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
        sequence(first: mirror, next: \.superclassMirror).flatMap(\.children).compactMap { child in
            guard let label = child.label, let rule = rules.first(where: { $0.isMissed(by: label, child.value) }) else {
                return nil
            }
            let property = "\(label): \(type(of: child.value))"
            return .notTheRule(property: property, of: "\(owner)", rule: "\(rule.name): \(rule.type)")
        }
    }
}

extension ForwardingService {
    fileprivate var hidesSelection: Bool { selectedService == nil && forwarded.hasSelection }
}

extension HttpService {
    fileprivate var hasSelection: Bool { selectedService != nil }
}

extension NearMisses.Rule {
    fileprivate func isMissed(by label: String, _ value: Any) -> Bool {
        label == name ? isMissed(value) : otherNames.contains(label) && isMeant(value)
    }
}

/// Warns once for each type of service and of request of stored properties that look like a rule but are not.
///
/// Only calls in a debug build use it; a release build gives no warnings.
final class NearMissWarnings: Sendable {
    /// The warnings of the process, on its standard error.
    static let shared = NearMissWarnings { FileHandle.standardError.write(Data("Nautilus: \($0)\n".utf8)) }

    /// The types that have been checked.
    private let seen = Locked<Set<ObjectIdentifier>>([])
    /// The types of services with a selection through which a renewal has gone.
    private let renewing = Locked<Set<ObjectIdentifier>>([])
    private let write: @Sendable (String) -> Void

    init(write: @escaping @Sendable (String) -> Void) {
        self.write = write
    }

    /// Checks both types, unless it has checked them before.
    func check(_ service: any HttpService, _ request: some Request) {
        let declared = NearMisses.declared(request)
        if isNew(type(of: declared)) { warn(NearMisses.findings(ofDeclared: declared)) }
        // Only few types wrap services, and each is checked only once.
        var service = service
        while let wrapping = service as? any ForwardingService {
            if isNew(type(of: wrapping)) { warn(NearMisses.hiddenSelection(in: wrapping)) }
            service = wrapping.forwarded
        }
        if isNew(type(of: service)) { warn(NearMisses.findings(of: service)) }
    }

    /// Warns of a renewal that goes through a service with a selection, once for each type of service.
    ///
    /// - Parameters:
    ///   - service: The service, which has a selected service.
    ///   - isPartOfRefresh: Whether the call is part of a refresh.
    func check(_ service: any HttpService, isPartOfRefresh: Bool) {
        guard isPartOfRefresh, renewing.withLock({ $0.insert(ObjectIdentifier(type(of: service))).inserted }) else {
            return
        }
        write(
            """
            a renewal goes through \(type(of: service)), and so to whatever is selected by then, with a credential that may be \
            of another environment: have it go through the environment's own service
            """
        )
    }

    /// Whether a type has been checked.
    func hasSeen(_ type: Any.Type) -> Bool { seen.withLock { $0.contains(ObjectIdentifier(type)) } }

    /// Whether a renewal has gone through a service of this type.
    func hasWarned(ofRenewalThrough type: Any.Type) -> Bool {
        renewing.withLock { $0.contains(ObjectIdentifier(type)) }
    }

    private func isNew(_ type: Any.Type) -> Bool { seen.withLock { $0.insert(ObjectIdentifier(type)).inserted } }

    private func warn(_ findings: [PolicyFinding]) {
        for finding in findings { write(finding.description) }
    }
}
