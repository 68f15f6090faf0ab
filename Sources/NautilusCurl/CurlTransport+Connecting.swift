#if os(Linux)
    internal import CNautilusCurl
    import Foundation
    import NautilusHTTP

    extension CurlTransport {
        /// The route that connections take.
        public enum Route: Sendable, CustomStringConvertible {
            /// Straight to the host, or through a proxy that the environment names (`http_proxy`, `https_proxy`,
            /// `all_proxy`, `no_proxy`).
            case environment
            /// Straight to the host, whatever the environment says.
            case direct
            /// Through a proxy.
            case proxy(Proxy)
            /// Over the Unix socket with this path, whatever the host; the request still names the host.
            case unixSocket(path: String)

            /// The kind of route, and where it leads; without user and password.
            public var description: String {
                switch self {
                case .environment: "by the proxies of the environment"
                case .direct: "straight to the host"
                case .proxy(let proxy): "by \(proxy)"
                case .unixSocket(let path): "over \(path)"
                }
            }
        }

        /// A proxy, with the user name and the password for it.
        public struct Proxy: Sendable, Redacted {
            /// The proxy's URL: `http://proxy.example.com:3128`, or `socks5h://…`, which has the proxy look up names.
            public let url: String
            /// The user name for the proxy; nil for none.
            public let user: String?
            /// The user's password; nil for none.
            public let password: String?
            /// Hosts that are reached without the proxy, including their subdomains; `*` for every host. Default: none.
            public let exceptions: [String]

            /// Creates a proxy. With an invalid URL, exchanges fail before anything is sent.
            public init(_ url: String, user: String? = nil, password: String? = nil, exceptions: [String] = []) {
                self.url = url
                self.user = user
                self.password = password
                self.exceptions = exceptions
            }

            /// Scheme, host and port, without user and password.
            public var description: String {
                URL(string: url).flatMap(HttpOrigin.init).map { "\($0)" } ?? "‹proxy›"
            }
        }

        /// The TLS settings: which servers are trusted, and the client's own certificate.
        public struct Trust: Sendable, Redacted {
            /// The oldest version of TLS.
            public enum Version: Sendable {
                /// TLS 1.2 (RFC 5246).
                case tls12
                /// TLS 1.3 (RFC 8446).
                case tls13
            }

            /// A client certificate, for servers that ask for one.
            public struct Identity: Sendable, Redacted {
                /// The certificate and the intermediate ones up to a root, in PEM.
                public let certificates: Data
                /// The certificate's private key, in PEM.
                public let key: Data
                /// The password with which the key is encrypted; nil if it is not encrypted.
                public let password: String?

                /// Creates an identity. If it cannot be read, exchanges fail before anything is sent.
                public init(certificates: Data, key: Data, password: String? = nil) {
                    self.certificates = certificates
                    self.key = key
                    self.password = password
                }

                /// A fixed text that shows nothing of the certificate.
                public var description: String { "a client certificate" }
            }

            /// The oldest version of TLS to accept. Default: TLS 1.2, the oldest that is still allowed (RFC 8996).
            public var minimumVersion: Version
            /// The roots that certificates are traced back to, in PEM, in place of the system's. Default: nil, the
            /// system's.
            public var roots: Data?
            /// Pinned public keys. The server's certificate must have one of them, besides being valid. Each is the
            /// SHA-256 of the SubjectPublicKeyInfo, 32 bytes (RFC 7469 §2.4). Default: none, any key.
            ///
            /// Also pin a second key that is not in use yet: a server that had to change its only pinned key could no
            /// longer be reached.
            public var pinnedKeys: [Data]
            /// The client's certificate. Default: nil, none.
            public var identity: Identity?

            /// Creates a trust; every default gives its reason at the property.
            public init(
                minimumVersion: Version = .tls12,
                roots: Data? = nil,
                pinnedKeys: [Data] = [],
                identity: Identity? = nil
            ) {
                self.minimumVersion = minimumVersion
                self.roots = roots
                self.pinnedKeys = pinnedKeys
                self.identity = identity
            }

            /// The settings, without keys.
            public var description: String {
                let parts = [
                    minimumVersion == .tls12 ? "TLS 1.2" : "TLS 1.3", roots == nil ? "the system's roots" : "own roots",
                    "\(pinnedKeys.count) pinned keys",
                    identity == nil ? "no client certificate" : "a client certificate",
                ]
                return parts.joined(separator: ", ")
            }
        }
    }

    extension CurlTransport.Route {
        func apply(to handle: CurlHandle) {
            switch self {
            case .environment: break
            case .direct: avoidProxies(on: handle)
            case .unixSocket(let path):
                avoidProxies(on: handle)
                handle.set(NAUTILUS_CURL_UNIX_SOCKET_PATH, path)
            case .proxy(let proxy):
                // Without a URL, libcurl would go straight to the host.
                if proxy.url.isEmpty { handle.refuse() }
                handle.set(NAUTILUS_CURL_PROXY, proxy.url)
                // Set even if empty, so that the environment's exceptions do not apply.
                handle.set(NAUTILUS_CURL_NOPROXY, proxy.exceptions.joined(separator: ","))
                if let user = proxy.user { handle.set(NAUTILUS_CURL_PROXYUSERNAME, user) }
                if let password = proxy.password { handle.set(NAUTILUS_CURL_PROXYPASSWORD, password) }
            }
        }

        private func avoidProxies(on handle: CurlHandle) {
            // An empty proxy would not do, since libcurl then asks the environment.
            handle.set(NAUTILUS_CURL_NOPROXY, "*")
            handle.clear(NAUTILUS_CURL_PROXY_CAINFO)
            handle.clear(NAUTILUS_CURL_PROXY_CAPATH)
        }
    }

    extension CurlTransport.Trust {
        func apply(to handle: CurlHandle) {
            let (tls12, tls13) = (6, 7)
            handle.set(NAUTILUS_CURL_SSLVERSION, minimumVersion == .tls12 ? tls12 : tls13)
            if let roots { handle.set(NAUTILUS_CURL_CAINFO_BLOB, blob: roots) }
            if !pinnedKeys.isEmpty {
                let pins = pinnedKeys.map { "sha256//\($0.base64EncodedString())" }
                handle.set(NAUTILUS_CURL_PINNEDPUBLICKEY, pins.joined(separator: ";"))
            }
            if let identity {
                handle.set(NAUTILUS_CURL_SSLCERT_BLOB, blob: identity.certificates)
                handle.set(NAUTILUS_CURL_SSLKEY_BLOB, blob: identity.key)
                if let password = identity.password { handle.set(NAUTILUS_CURL_KEYPASSWD, password) }
            }
        }
    }
#endif
