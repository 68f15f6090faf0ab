#if os(Linux)
    internal import CNautilusCurl
    import Foundation
    import NautilusHTTP

    extension CurlTransport {
        /// The choices about a ``CurlTransport``.
        public struct Configuration: Sendable {
            /// The largest response body, in bytes, after decompression; beyond it the exchange ends with
            /// `TransportError.responseTooLarge(limit:)`. A streamed body has no limit.
            ///
            /// 64 MiB: far above any document an API answers with, and little enough to be held in memory.
            public var responseLimit: Int
            /// The largest header of a response, in bytes, including its interim responses and trailers.
            ///
            /// 256 KiB: thirty times the most that servers commonly send.
            public var headerLimit: Int
            /// How many connections one host gets at once; further exchanges queue, the more urgent first.
            /// Exchanges whose response is read as it arrives, such as events and downloads, have as many connections
            /// of their own, so that long ones do not hold up the others.
            ///
            /// 6, as in Foundation and browsers, which servers are used to.
            public var connectionsPerHost: Int
            /// How many connections there are at once in total, and how many are kept.
            ///
            /// 256: a quarter of the descriptors that a process has on most systems.
            public var connections: Int
            /// How long connecting may take, including the look-up of the host's name and the TLS handshake.
            ///
            /// 10 s: three of TCP's own repetitions. The exchange then ends with `timedOut`, `Delivery.notSent`, so
            /// that even a request that must not run twice can be tried again. Only a request that libcurl was
            /// repeating may have been executed.
            public var connectTimeout: Duration
            /// The route that connections take.
            ///
            /// Default: the environment's, as for every other client on the system.
            public var route: Route
            /// The TLS settings: which servers are trusted, and the client's own certificate.
            public var trust: Trust
            /// Addresses of hosts, by name in lower case, in place of a look-up. Several are tried as those from a
            /// look-up would be, IPv6 and IPv4 within 200 ms of each other (RFC 8305). Default: none.
            public var addresses: [String: [String]]

            /// Creates a configuration; every default gives its reason at the property.
            public init(
                responseLimit: Int = HttpBodyStream.wholeBodyLimit,
                headerLimit: Int = 262_144,
                connectionsPerHost: Int = 6,
                connections: Int = 256,
                connectTimeout: Duration = .seconds(10),
                route: Route = .environment,
                trust: Trust = Trust(),
                addresses: [String: [String]] = [:]
            ) {
                self.responseLimit = responseLimit
                self.headerLimit = headerLimit
                self.connectionsPerHost = connectionsPerHost
                self.connections = connections
                self.connectTimeout = connectTimeout
                self.route = route
                self.trust = trust
                self.addresses = addresses
            }
        }
    }

    extension CurlTransport.Configuration {
        /// Sets the options that are the same for every request.
        ///
        /// - Parameter isSecure: Whether the requests go over TLS; libcurl would copy the TLS settings for other requests,
        ///   too.
        func apply(to handle: CurlHandle, isSecure: Bool) {
            let (http, http11) = (3, 2)
            // libcurl must not change the process's signal handlers.
            handle.set(NAUTILUS_CURL_NOSIGNAL, 1)
            handle.set(NAUTILUS_CURL_PROTOCOLS, http)
            handle.set(NAUTILUS_CURL_HTTP_VERSION, http11)
            // Dots in a path are left as the caller has written them.
            handle.set(NAUTILUS_CURL_PATH_AS_IS, 1)
            // A proxy's answer to CONNECT is not the response.
            handle.set(NAUTILUS_CURL_SUPPRESS_CONNECT_HEADERS, 1)
            handle.set(NAUTILUS_CURL_HTTP_CONTENT_DECODING, 0)
            handle.set(NAUTILUS_CURL_TCP_KEEPALIVE, 1)
            handle.set(NAUTILUS_CURL_CONNECTTIMEOUT_MS, connectTimeout.wholeMilliseconds)
            if case .success(let library) = CurlLibrary.found, library.isSafeOnAnyThread {
                handle.set(NAUTILUS_CURL_QUICK_EXIT, 1)
            }
            route.apply(to: handle)
            if isSecure {
                trust.apply(to: handle)
            } else {
                handle.clear(NAUTILUS_CURL_CAINFO)
                handle.clear(NAUTILUS_CURL_CAPATH)
            }
        }

        /// Sets the addresses of a host, if they are configured.
        func applyAddresses(to handle: CurlHandle, of origin: HttpOrigin) {
            guard !addresses.isEmpty, let found = addresses[origin.host] else { return }
            // IPv6 addresses need brackets.
            let texts = found.map { $0.contains(":") && !$0.hasPrefix("[") ? "[\($0)]" : $0 }
            handle.setAddresses("\(origin.host):\(origin.port):\(texts.joined(separator: ","))")
        }
    }

    extension Duration {
        /// The duration in milliseconds, rounded up; at least 1, since libcurl takes 0 as its own default.
        fileprivate var wholeMilliseconds: Int {
            let (seconds, attoseconds) = components
            // At most a day, since libcurl counts in 32 bits on some systems.
            guard seconds < 86_400 else { return 86_400_000 }
            return max(1, Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
        }
    }
#endif
