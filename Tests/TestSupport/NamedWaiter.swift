/// Waits in a queue for a task.
package struct NamedWaiter: Identifiable, Hashable, Sendable {
    package let id: String

    package init(_ id: String) {
        self.id = id
    }
}
