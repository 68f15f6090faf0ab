import NautilusOAuth

/// The events of a session from the log's making on.
struct EventLog: Sendable {
    private let events: AsyncStream<SessionEvent>

    init(_ session: OAuthSession) {
        events = session.events
    }

    /// The names of those that have come; to be asked once, when no more are to come.
    func names(_ count: Int = 1) async -> [String] {
        var names: [String] = []
        for await event in events.prefix(count) { names.append(event.name) }
        return names
    }
}
