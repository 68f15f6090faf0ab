import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A session of Foundation's with its delegate, released as a session has to be.
final class ExchangeSession: Sendable {
    let session: URLSession
    let exchanges: ExchangeDelegate

    init(_ configuration: URLSessionTransport.Configuration) {
        exchanges = ExchangeDelegate(
            connectionsPerHost: configuration.connectionsPerHost,
            pinnedKeys: configuration.pinnedKeys
        )
        session = URLSession(
            configuration: configuration.sessionConfiguration(),
            delegate: exchanges,
            delegateQueue: exchanges.operations
        )
    }

    deinit {
        // A session holds its delegate and its connections until it is told that nothing follows. On the queue, since
        // an exchange that was cancelled may still be on its way there, and an invalidated session traps.
        exchanges.queue.async { [session] in session.finishTasksAndInvalidate() }
    }
}
