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
            /// - responses that are read as they arrive, such as events and downloads, and with them bodies that are
            ///   sent as streams: libcurl lets the server send some 20 MB ahead of a slow reader, and again whenever the
            ///   reader goes on, so that twenty of them take hundreds of megabytes;
            /// - with a libcurl that does not tell refusals, which is each but 8.14.1 (see
            ///   ``CurlTransport/http2Limitation``), requests that must not run twice, such as a POST without an
            ///   `Idempotency-Key`, and requests with a body.
            ///
            /// A server that gives a connection up refuses the exchanges on their way, which were not executed then
            /// (RFC 9113 §8.7). They are sent again on another connection, up to five times, whatever their method, and
            /// fail with ``Delivery/notSent`` after that. Whatever is lost in another way is sent again only if it may
            /// run twice. Where refusals are not told, every request that may run twice is sent again.
            ///
            /// The rest is as over HTTP/1.1, with these differences:
            /// - Every failure after libcurl was allowed to write the request is ``Delivery/maybeExecuted``, unless all
            ///   that was written was refused.
            /// - A complete answer is the response, even if the server has not let all of the request's body through: the
            ///   rest is not sent.
            /// - Where refusals are not told, a body with neither a length nor a coding that the server breaks off
            ///   without an error (`NO_ERROR`) passes as whole.
            /// - Where refusals are told, a host gets one exchange until it has said how many it takes at once, and never
            ///   more than that, however often it changes its mind. A new connection on which it takes fewer than before
            ///   refuses the others.
            /// - libcurl's trace of HTTP/2 is turned on in the process, for its users that ask for traces
            ///   (`curl_global_trace`). Nothing of it is kept or printed.
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
            guard case .success(let library) = found, library.hasProvenTrace else { return false }
            return nautilus_curl_trace() != 0
        }()

        /// Whether it is proven what the library's trace of HTTP/2 says.
        var hasProvenTrace: Bool { http2Unusable == nil && Self.tracedNumbers.contains(number) }

        /// Whether a request that is not read as a stream may go over HTTP/2.
        func multiplexes(_ request: CurlRequest, isTraced: Bool) -> Bool {
            guard request.isSecure, http2Unusable == nil else { return false }
            guard !isTraced else { return true }
            // A server refuses exchanges when it gives a connection up, and libcurl does not say that it was a refusal.
            guard request.request.isIdempotent else { return false }
            // libcurl waits for the rest of a body though the answer is complete, until the server has read it.
            return request.lacksBody
        }

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
            guard httpVersion == .http2 else { return false }
            // While a reader is slow, libcurl lets some 20 MB of the answer come, and more each time it goes on.
            guard !isStreamed, case .success(let library) = CurlLibrary.found else { return false }
            return library.multiplexes(request, isTraced: CurlLibrary.isTraced)
        }
    }
#endif
