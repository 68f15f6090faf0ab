/// Stands in a line for a task.
struct NamedWaiter: Identifiable, Hashable, Sendable {
    let id: String

    init(_ id: String) {
        self.id = id
    }
}
