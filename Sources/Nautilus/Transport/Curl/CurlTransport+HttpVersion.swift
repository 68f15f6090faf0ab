#if os(Linux)
    internal import CNautilusCurl

    extension CurlTransport {
        /// The newest version of HTTP that a ``CurlTransport`` speaks with a server.
        public enum HttpVersion: Sendable {
            /// HTTP/1.1, over TLS as well (RFC 9112).
            case http1
            /// HTTP/2, if the server chooses it in the TLS handshake (RFC 9113, RFC 7301), and HTTP/1.1 otherwise.
            ///
            /// Exchanges share a connection, which pays where many are under way at once and answers take long to come;
            /// on one machine, six connections of HTTP/1.1 are quicker. What is safer on a connection of its own still
            /// goes over HTTP/1.1:
            /// - everything without TLS, and everything with a libcurl for which HTTP/2 is not proven; see
            ///   ``CurlTransport/http2Unavailability``;
            /// - requests that must not run twice, such as a POST without an `Idempotency-Key`: a server that gives a
            ///   connection up refuses the exchanges on their way, and libcurl does not tell those from others that may
            ///   have been executed. Requests that may run twice are repeated, up to five times;
            /// - requests with a body: libcurl waits for the rest of a body though the answer is complete;
            /// - responses that are read as they arrive, such as events and downloads: a slow reader would hold up
            ///   others.
            ///
            /// The rest is as over HTTP/1.1, with these differences:
            /// - A body with neither a length nor a coding that the server breaks off without an error (`NO_ERROR`)
            ///   passes as whole, since libcurl does not tell.
            /// - Every failure after libcurl was allowed to write the request is ``Delivery/maybeExecuted``.
            /// - A header of more than about 140 KiB ends the connection, and the exchanges on it.
            /// - The connections of the two versions are counted and limited apart, each by
            ///   ``Configuration/connections``.
            case http2

            /// libcurl's number for HTTP/2 as the version of an answer.
            static let http2Number = 3
        }

        /// Why HTTP/2 is not used here, even if ``Configuration/httpVersion`` asks for it; nil if it is.
        ///
        /// It is used with the versions of libcurl with which its tests have passed: 8.5.0, 8.9.1 and 8.14.1. 7.88 may
        /// put a request on a connection of HTTP/1.1 that waits for another answer, 8.12.1 does not go back to HTTP/1.1
        /// when a server asks for that, and 8.19.0 uses connections that have failed.
        public static var http2Unavailability: String? {
            switch CurlLibrary.found {
            case .failure(let reason): reason.description
            case .success(let library): library.http2Unusable?.description
            }
        }

        /// Why HTTP/2 is used here, at most, for requests that may run twice and have no body; nil if it is used for
        /// others as well.
        ///
        /// For the others, libcurl has to tell which exchanges a server has refused and which answers have ended. It
        /// does so only in its trace, which is read of the version with which that is proven: 8.14.1.
        public static var http2Limitation: String? {
            if CurlLibrary.isTraced { return nil }
            guard http2Unavailability == nil, case .success(let library) = CurlLibrary.found else {
                return http2Unavailability
            }
            return "the trace of HTTP/2 is not proven with libcurl \(library.version)"
        }
    }

    extension CurlLibrary {
        /// The versions with which HTTP/2 is proven. Each is tried by the suites of HTTP/2 before it is added.
        static let http2Numbers: Set<UInt32> = [0x08_05_00, 0x08_09_01, 0x08_0E_01]

        /// The versions of which it is proven what their trace of HTTP/2 says. Each is tried by the suites of HTTP/2
        /// before it is added.
        static let tracedNumbers: Set<UInt32> = [0x08_0E_01]

        /// Whether libcurl tells which exchanges over HTTP/2 were refused, and which have ended.
        static let isTraced: Bool = {
            guard case .success(let library) = found, library.http2Unusable == nil else { return false }
            return tracedNumbers.contains(library.number) && nautilus_curl_trace() != 0
        }()

        /// Why HTTP/2 is not used; nil if it is.
        var http2Unusable: Unusable? {
            guard hasHttp2 else { return Unusable(description: "libcurl \(version) was built without HTTP/2") }
            guard Self.http2Numbers.contains(number) else {
                return Unusable(description: "HTTP/2 is not proven with libcurl \(version)")
            }
            return nil
        }
    }

    extension CurlTransport.Configuration {
        /// Whether a request goes over HTTP/2 if its server speaks it.
        ///
        /// - Parameter isStreamed: Whether its response is read as it arrives.
        func multiplexes(_ request: CurlRequest, isStreamed: Bool) -> Bool {
            guard httpVersion == .http2, request.isSecure else { return false }
            // While an exchange is paused, libcurl takes up to 10 MiB of its answer, which would fill the memory.
            guard !isStreamed else { return false }
            guard case .success(let library) = CurlLibrary.found, library.http2Unusable == nil else { return false }
            if CurlLibrary.isTraced { return true }
            // A server refuses exchanges when it gives a connection up, and libcurl does not say that it was a refusal.
            guard request.request.isIdempotent else { return false }
            // libcurl waits for the rest of a body though the answer is complete, until the server has read it.
            return request.lacksBody
        }
    }
#endif
