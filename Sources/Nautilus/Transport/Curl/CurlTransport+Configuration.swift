#if os(Linux)
    internal import CNautilusCurl
    import Foundation

    extension CurlTransport {
        /// The choices about a ``CurlTransport``.
        public struct Configuration: Sendable {
            /// The largest response body, in bytes, after decompression; beyond it the exchange ends with
            /// ``TransportError/responseTooLarge(limit:)``. A body that is streamed has no limit.
            ///
            /// 64 MiB: far above any document an API answers with, and little enough to be held in memory.
            public var responseLimit: Int
            /// The largest header of a response, in bytes, with those of its interim responses and its trailers.
            ///
            /// 256 KiB: thirty times the most that servers commonly send.
            public var headerLimit: Int
            /// How many connections one host gets at once; further exchanges wait in line, the more urgent first.
            /// Exchanges whose response is read while it comes, such as events and downloads, have as many of their
            /// own, so that long ones do not hold up the others.
            ///
            /// 6, as Foundation and the browsers have it: servers are used to it.
            public var connectionsPerHost: Int
            /// How many connections there are at once in all, and how many are kept.
            ///
            /// 256: a quarter of the descriptors that a process has on most systems.
            public var connections: Int
            /// How long a connection may take, with the look-up of its name and its TLS handshake.
            ///
            /// 10 s: three of TCP's own repetitions. It ends with `timedOut`, ``Delivery/notSent``, so that even a
            /// request that must not run twice can be tried again.
            public var connectTimeout: Duration
            /// The way that connections take.
            ///
            /// The environment's, as with every other client on the system.
            public var route: Route
            /// The TLS settings: which servers are trusted, and the client's own certificate.
            public var trust: Trust
            /// Addresses of hosts, by their names in small letters, in place of those that a look-up finds: several are
            /// tried as the found ones are, IPv6 and IPv4 within 200 ms of each other (RFC 8305). Default: none.
            public var addresses: [String: [String]]

            /// Creates a configuration; every default gives its reason at the property.
            public init(
                responseLimit: Int = 67_108_864,
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
        /// - Parameter isSecure: Whether for those over TLS; libcurl copies its settings for the others as well.
        func apply(to handle: CurlHandle, isSecure: Bool) {
            let (http, http11) = (3, 2)
            // No signal handler of the process's is to be changed.
            handle.set(NAUTILUS_CURL_NOSIGNAL, 1)
            handle.set(NAUTILUS_CURL_PROTOCOLS, http)
            handle.set(NAUTILUS_CURL_HTTP_VERSION, http11)
            // Dots in a path are the caller's.
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

        /// Sets the addresses of a host, where they are not to be looked up.
        func applyAddresses(to handle: CurlHandle, of origin: HttpOrigin) {
            guard !addresses.isEmpty, let found = addresses[origin.host] else { return }
            // Those of IPv6 in brackets.
            let texts = found.map { $0.contains(":") && !$0.hasPrefix("[") ? "[\($0)]" : $0 }
            handle.setAddresses("\(origin.host):\(origin.port):\(texts.joined(separator: ","))")
        }
    }

    extension Duration {
        /// Rounded up; at least 1, since libcurl takes 0 for its own default.
        fileprivate var wholeMilliseconds: Int {
            let (seconds, attoseconds) = components
            // A day: libcurl counts in 32 bits on some systems.
            guard seconds < 86_400 else { return 86_400_000 }
            return max(1, Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
        }
    }
#endif
