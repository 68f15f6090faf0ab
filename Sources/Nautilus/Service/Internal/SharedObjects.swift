/// The objects of a service that calls have to share, as found in one read of its properties.
struct SharedObjects {
    private struct Find {
        let property: String
        let type: String
        let identity: ObjectIdentifier
        /// Keeps the object alive, so that no other object gets its identity.
        let keeper: Any
    }

    private let finds: [Find]

    /// Looks at each value of `service`.
    init(_ service: ServiceConfiguration) {
        var finds: [Find] = []
        func find(_ object: Any?, in property: String) {
            guard let object, let identity = ObjectIdentifier(ofAny: object) else { return }
            let type = "\(Swift.type(of: object))"
            finds.append(Find(property: property, type: type, identity: identity, keeper: object))
        }
        // Each property is read only once, so that its parts belong together.
        let (interceptors, descriptions) = (service.interceptors, service.retrierFactory.descriptions)
        for object in interceptors.flatMap(\.sharedObjects) { find(object, in: "interceptors") }
        let hedges = interceptors.compactMap(\.hedging).map { ("interceptors", $0) }
        for (property, policy) in hedges + descriptions.map({ ("retrierFactory", $0) }) {
            find(policy.budget?.keeper, in: property)
            find(policy.gate, in: property)
            find(policy.latencies, in: property)
        }
        for object in service.hook.sharedObjects { find(object, in: "hook") }
        for object in service.transport.sharedObjects { find(object, in: "transport") }
        self.finds = finds
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
