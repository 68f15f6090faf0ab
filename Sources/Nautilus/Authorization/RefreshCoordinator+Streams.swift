extension RefreshCoordinator {
    /// The events of the session, from the latest one on: a new stream for each call, any number at a time.
    ///
    /// For a listener that comes late, and has to know whether somebody is signed in. Otherwise as ``events``.
    ///
    /// - Parameter replaysLatest: Whether the stream begins with the event that happened last, if any has.
    public func events(replayingLatest replaysLatest: Bool) -> AsyncStream<Event> {
        broadcast.stream(replayingLatest: replaysLatest)
    }

    /// The grant as it is now, and each one that takes its place; nil while nobody is signed in. A new stream for each
    /// access, any number at a time.
    ///
    /// A slow reader gets the latest grant and misses those in between, which are dead. To stamp an attempt, ask for
    /// ``grant(continuing:)``, which waits for a refresh. The stream ends with the coordinator.
    public var grants: AsyncStream<Grant?> { grantBroadcast.stream(replayingLatest: true) }

    /// Sends the present grant to the streams; it may be newer than the event that was just sent.
    ///
    /// Only called by the deliverer of the events, one at a time, so that nothing older comes after.
    func publishGrant() {
        let grant = current
        guard grant?.generation != grantBroadcast.latest??.generation else { return }
        grantBroadcast.send(grant)
    }
}
