import AsyncHTTPClient
import NIOCore
import Tracing

extension AsyncHTTPClientTransport {
    /// The options of an ``AsyncHTTPClientTransport``.
    public struct Configuration: Sendable {
        /// The largest response body, in bytes, after decompression; beyond it the exchange ends with
        /// `TransportError.responseTooLarge(limit:)`. A body that is streamed has no limit.
        ///
        /// 64 MiB, as `URLSessionTransport` has it: far above any document an API answers with.
        public var responseLimit: Int
        /// How many exchanges one host gets at once; further ones queue.
        ///
        /// 8, as async-http-client has it; raise it for a server that talks much to few others.
        public var connectionsPerHost: Int
        /// Whether gzip and deflate are asked for and undone; the response's header keeps the names.
        ///
        /// Yes, as `URLSession` does.
        public var decompresses: Bool
        /// The threads that the connections are served on.
        ///
        /// async-http-client's own, which all of its clients share: as many threads as there are cores, or Apple's network
        /// stack where there is one. A server hands over its own group, so that requests stay on the threads that it has.
        /// An app that hands one over shuts it down, after the transport is released and its last exchange has ended.
        public var eventLoopGroup: any EventLoopGroup
        /// Adjusts the client's configuration before it is made: certificates, proxies, HTTP versions. Nil for no
        /// adjustment, the default.
        ///
        /// The settings that the transport depends on are made afterwards and cannot be changed here: no redirects,
        /// no timeouts but the one for connecting, no second attempts at connecting.
        public var adjust: (@Sendable (inout HTTPClient.Configuration) -> Void)?

        /// Creates a configuration; every default gives its reason at the property.
        public init(
            responseLimit: Int = 67_108_864,
            connectionsPerHost: Int = 8,
            decompresses: Bool = true,
            eventLoopGroup: any EventLoopGroup = HTTPClient.defaultEventLoopGroup,
            adjust: (@Sendable (inout HTTPClient.Configuration) -> Void)? = nil
        ) {
            self.responseLimit = responseLimit
            self.connectionsPerHost = connectionsPerHost
            self.decompresses = decompresses
            self.eventLoopGroup = eventLoopGroup
            self.adjust = adjust
        }
    }
}

extension AsyncHTTPClientTransport.Configuration {
    /// The client's configuration: its own, adjusted, and then what the transport depends on.
    var clientConfiguration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        adjust?(&configuration)
        configuration.redirectConfiguration = .disallow
        // The call times its attempts. Two minutes end what its caller has long left: a cancelled exchange leaves the
        // connection that was being made for it.
        configuration.timeout = HTTPClient.Configuration.Timeout(connect: .minutes(2), read: nil)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(1, connectionsPerHost)
        // Whether to try again is the retrier's to say.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Its output is counted, so that a small body cannot become a large one.
        configuration.decompression = decompresses ? .enabled(limit: .none) : .disabled
        // Without a tracer, no span is made: one that does nothing costs a twentieth of a request.
        if configuration.tracing.tracer is NoOpTracer { configuration.tracing.tracer = nil }
        return configuration
    }
}
