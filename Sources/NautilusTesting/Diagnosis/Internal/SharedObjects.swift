import Nautilus

/// The objects of a service that calls have to share, as found in one read of its properties.
///
/// An interceptor, a hook or a transport is one if it is an object with stored properties: an object without any has no state.
/// A part that wraps others, such as a composed hook, is looked into.
struct SharedObjects {
    private struct Find {
        let property: String
        let type: String
        let identity: ObjectIdentifier
        /// Keeps the object alive, so that no other object gets its identity.
        let keeper: Any
    }

    private var finds: [Find] = []

    /// Looks at each value of `service`.
    init(_ service: ServiceConfiguration) {
        // Each property is read only once, so that its parts belong together.
        for interceptor in service.interceptors {
            look(at: interceptor, in: "interceptors")
            guard let hedging = interceptor.hedging else { continue }
            note([hedging.budget.keeper, hedging.latencies, hedging.gate], in: "interceptors")
        }
        for policy in KnownRetrier.all(of: service.retrierFactory).policies {
            note([policy.budget.keeper, policy.gate, policy.latencies], in: "retrierFactory")
        }
        look(at: service.hook, in: "hook")
        look(at: service.transport, in: "transport")
    }

    private mutating func look(at part: Any, in property: String) {
        let children = sequence(first: Mirror(reflecting: part), next: \.superclassMirror).flatMap(\.children)
        if type(of: part) is AnyClass {
            if !children.isEmpty { note([part], in: property) }
        } else {
            let inner = children.flatMap { $0.value as? [Any] ?? [$0.value] }
            for part in inner where part is any HttpInterceptor || part is any ServiceHook || part is any HttpTransport
            {
                look(at: part, in: property)
            }
        }
    }

    private mutating func note(_ objects: [Any?], in property: String) {
        for object in objects {
            guard let object, let identity = ObjectIdentifier(ofAny: object) else { continue }
            finds.append(Find(property: property, type: "\(type(of: object))", identity: identity, keeper: object))
        }
    }

    /// The objects that are different ones in the other read.
    func madeAnew(in other: SharedObjects) -> [PolicyFinding] {
        var findings: [PolicyFinding] = []
        for (find, again) in zip(finds, other.finds) where find.type == again.type && find.identity != again.identity {
            let finding = PolicyFinding.madeAnew(type: find.type, property: find.property)
            if !findings.contains(finding) { findings.append(finding) }
        }
        return findings
    }
}
