import Foundation
import NautilusHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLSessionTransport {
    /// The choices about a ``URLSessionTransport``.
    public struct Configuration: Sendable {
        /// The largest response body, in bytes, after decompression; beyond it the exchange ends with
        /// `TransportError.responseTooLarge(limit:)`.
        ///
        /// Default: `HttpBodyStream.wholeBodyLimit`, 64 MiB. On Linux, Foundation cannot slow down a server, so
        /// without a limit a response could fill all memory.
        public var responseLimit: Int
        /// The most bytes of one body that wait on disk: for a streamed response, the bytes that have arrived but are
        /// not read yet; for a streamed request body, all of it, until it is sent. Beyond that, the exchange ends with
        /// `TransportError.failed(_:delivery:reason:)`, code `dataLengthExceedsMaximum`.
        ///
        /// 1 GiB: a reader that is so far behind has stopped reading, and on many servers the folder for temporary
        /// files is in memory. A body that is a file is sent directly, however large.
        public var spoolLimit: Int
        /// How many connections one host gets at once; further exchanges queue. Exchanges with a streamed body
        /// have as many connections of their own.
        ///
        /// 6, as in Foundation and browsers, which servers are used to; more connections gain little, since all
        /// connections of a session share one work queue.
        public var connectionsPerHost: Int
        /// Pinned public keys. The server's certificate must have one of them, besides being valid. Each is the SHA-256
        /// of the SubjectPublicKeyInfo, 32 bytes (RFC 7469 §2.4). With another key, the exchange ends with
        /// `serverCertificateUntrusted`, not sent. Default: none, any key.
        ///
        /// Also pin a second key that is not in use yet: a server that had to change its only pinned key could no
        /// longer be reached. On Linux, where Foundation does not show certificates, no exchange succeeds with pinned
        /// keys; use `CurlTransport` there.
        public var pinnedKeys: [Data]
        /// Adjusts Foundation's configuration before the session is made: proxies, TLS versions, cellular access.
        /// Default: nil, no adjustment.
        ///
        /// The settings that the transport depends on are applied afterwards and cannot be changed here: no cookies, no
        /// cache, no credential storage, and timeouts that leave timing to the call. On Linux, proxies always come from
        /// the environment (`http_proxy`, `https_proxy`, `no_proxy`).
        public var adjust: (@Sendable (URLSessionConfiguration) -> Void)?

        /// Creates a configuration; every default gives its reason at the property.
        public init(
            responseLimit: Int = HttpBodyStream.wholeBodyLimit,
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

    /// Foundation's own timeout: a day, so that it only ends forgotten exchanges.
    ///
    /// It cannot serve as a call's timeout: on Linux it counts whole seconds, fires at once for less than a second, and
    /// includes the wait for a connection.
    static let backstop: TimeInterval = 86_400
}

extension URLSessionTransport.Configuration {
    /// The session's configuration: Foundation's, adjusted, and then the settings that the transport depends on.
    func sessionConfiguration() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = connectionsPerHost
        adjust?(configuration)
        // A cache would serve stale answers and, on Linux, make cancelling crash even if it is never used.
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
