import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLSessionTransport {
    /// The choices about a ``URLSessionTransport``.
    public struct Configuration: Sendable {
        /// The largest response body, in bytes, after decompression; beyond it the exchange ends with
        /// ``TransportError/responseTooLarge(limit:)``.
        ///
        /// 64 MiB: far above any document an API answers with, and what a phone can still hold in memory. Foundation
        /// cannot slow a server down on Linux, so without a limit a response could fill all of it.
        public var responseLimit: Int
        /// How many bytes of one body wait on disk, at most: of a streamed response, those that have come and are not
        /// read yet; of a streamed request body, all of it, until it is sent. Beyond it the exchange ends with
        /// ``TransportError/failed(_:delivery:reason:)``, code `dataLengthExceedsMaximum`.
        ///
        /// 1 GiB: a reader that is so far behind does not read any more, and the folder for temporary files is in
        /// memory on many servers. Bodies that are files are sent as they are, however large.
        public var spoolLimit: Int
        /// How many connections one host gets at once; further exchanges wait in line.
        ///
        /// 6, as Foundation and the browsers have it: servers are used to it, and more gain little, since all
        /// connections of a session share one work queue.
        public var connectionsPerHost: Int
        /// Public keys, one of which the server's certificate must have besides being valid: SHA-256 of the
        /// SubjectPublicKeyInfo, 32 bytes each (RFC 7469 §2.4). A server with another key ends the exchange with
        /// `serverCertificateUntrusted`, not sent. Default: none, any key.
        ///
        /// Pin a second key that is not in use yet: a server that has to change its only one cannot be reached any
        /// more. On Linux, where Foundation does not show certificates, no exchange succeeds with pins; `CurlTransport`
        /// has them.
        public var pinnedKeys: [Data]
        /// Adjusts Foundation's configuration before the session is made: proxies, TLS versions, cellular access.
        /// Nil for no adjustment, the default.
        ///
        /// The settings that the transport depends on are made afterwards and cannot be changed here: no cookies, no
        /// cache, no credential storage, and timeouts that leave timing to the call. On Linux proxies always come from
        /// the environment (`http_proxy`, `https_proxy`, `no_proxy`).
        public var adjust: (@Sendable (URLSessionConfiguration) -> Void)?

        /// Creates a configuration; every default gives its reason at the property.
        public init(
            responseLimit: Int = 67_108_864,
            spoolLimit: Int = 1_073_741_824,
            connectionsPerHost: Int = 6,
            pinnedKeys: [Data] = [],
            adjust: (@Sendable (URLSessionConfiguration) -> Void)? = nil
        ) {
            self.responseLimit = responseLimit
            self.spoolLimit = spoolLimit
            self.connectionsPerHost = connectionsPerHost
            self.pinnedKeys = pinnedKeys
            self.adjust = adjust
        }
    }

    /// Foundation's own timeouts: a day, so that they only ever end forgotten exchanges.
    ///
    /// They cannot serve as the call's. On Linux they count whole seconds, a fraction of one fires at once, and the
    /// wait for a connection counts.
    static let backstop: TimeInterval = 86_400
}

extension URLSessionTransport.Configuration {
    /// The session's configuration: Foundation's, adjusted, and then the settings that the transport depends on.
    func sessionConfiguration() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = connectionsPerHost
        adjust?(configuration)
        // Besides serving stale answers, a cache makes cancelling crash on Linux, even one that is never used.
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.timeoutIntervalForRequest = URLSessionTransport.backstop
        configuration.timeoutIntervalForResource = URLSessionTransport.backstop
        return configuration
    }
}
