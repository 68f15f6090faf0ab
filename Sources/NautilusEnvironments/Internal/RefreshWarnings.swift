import Nautilus

extension TypeWarnings {
    /// The process's warnings of refreshes that go through a service with a selection.
    static let refreshes = TypeWarnings()

    /// Warns if a call through a service of this type is part of a refresh, unless it has warned of the type before.
    func check(_ service: Any.Type, isPartOfRefresh: Bool) {
        guard isPartOfRefresh, isNew(service) else { return }
        write(
            """
            a refresh goes through \(service), and so to whatever is selected by then, with a credential that may be of \
            another environment: have it go through the environment's own service
            """
        )
    }
}
