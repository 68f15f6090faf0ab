import NautilusOAuth

/// The events of a session, as names.
struct SessionEvents {
    private var iterator: AsyncStream<SessionEvent>.Iterator

    init(_ session: OAuthSession) {
        iterator = session.events.makeAsyncIterator()
    }

    /// The next events, up to the first of this name.
    mutating func next(upTo name: String) async -> [String] {
        var names: [String] = []
        while names.last != name, let event = await iterator.next() { names.append(event.name) }
        return names
    }

    /// All that are left, once the session is gone.
    mutating func rest() async -> [String] {
        var names: [String] = []
        while let event = await iterator.next() { names.append(event.name) }
        return names
    }
}

extension SessionEvent {
    /// The event's name; that of a store that fails tells how.
    fileprivate var name: String {
        switch self {
        case .signedIn: "signedIn"
        case .refreshed: "refreshed"
        case .refreshFailed: "refreshFailed"
        case .sessionExpired: "sessionExpired"
        case .signedOut: "signedOut"
        case .storeFailed(let error): (["storeFailed"] + ErrorKinds(error).names).joined(separator: " ")
        case .storeRecovered: "storeRecovered"
        }
    }
}
