#if os(Linux)
    internal import CNautilusCurl
    import Foundation
    import FoundationNetworking

    /// A request as libcurl is told of it.
    struct CurlRequest {
        private let request: HttpRequest
        private let origin: HttpOrigin
        private let url: String
        private let lines: [UInt8]
        private let configuration: CurlTransport.Configuration

        /// From how many bytes on a body is not copied, but read where it is: 64 KiB, which a copy of costs less than
        /// the calls back for it.
        private static let copyLimit = 65_536

        /// - Throws: ``InvalidRequest`` for a request that must not go on the wire, and ``TransportError`` for a URL
        ///   that is not HTTP or a stream that has been read. Nothing was sent.
        init(_ request: HttpRequest, _ configuration: CurlTransport.Configuration) throws {
            try request.validateForSession()
            if case .stream(let stream) = request.body, !stream.isReplayable {
                throw TransportError(HttpBodyStream.ReadError.alreadyRead)
            }
            guard let origin = request.origin, let url = request.url.withoutAuthorityUser else {
                throw TransportError(.badURL)
            }
            self.request = request
            self.origin = origin
            self.url = url
            self.lines = try request.lines()
            self.configuration = configuration
        }

        /// The transfer that carries it.
        func transfer(_ exchange: CurlExchange, _ handle: CurlHandle, _ context: AttemptContext) throws -> CurlTransfer
        {
            let body = apply(to: handle)
            configuration.apply(to: handle, for: origin)
            let transfer = CurlTransfer(
                exchange,
                of: request,
                to: origin,
                body: body,
                handle: handle,
                context: context,
                configuration: configuration
            )
            handle.setContext(transfer)
            guard handle.isComplete else {
                // libcurl must not silently leave anything out: a limit, a pinned key, the body.
                let reason = "libcurl does not take the request, or a setting of the transport's."
                throw TransportError.failed(.cannotConnectToHost, delivery: .notSent, reason: reason)
            }
            return transfer
        }

        private func apply(to handle: CurlHandle) -> CurlTransfer.Body {
            handle.set(NAUTILUS_CURL_URL, url)
            handle.setLines(lines)
            if request.method == .head { handle.set(NAUTILUS_CURL_NOBODY, 1) }
            let body = applyBody(to: handle)
            if request.method != .get, request.method != .head {
                handle.set(NAUTILUS_CURL_CUSTOMREQUEST, request.method.rawValue)
            }
            return body
        }

        private func applyBody(to handle: CurlHandle) -> CurlTransfer.Body {
            switch request.body {
            case .empty: return applyBytes(Data(), to: handle)
            case .data(let data): return applyBytes(data, to: handle)
            case .stream(let stream):
                if let data = stream.sentAsBytes { return applyBytes(data, to: handle) }
                handle.set(NAUTILUS_CURL_UPLOAD, 1)
                // Without a length it goes in chunks.
                handle.set(NAUTILUS_CURL_INFILESIZE_LARGE, size: stream.length ?? -1)
                handle.set(NAUTILUS_CURL_UPLOAD_BUFFERSIZE, 262_144)
                return .none
            }
        }

        private func applyBytes(_ data: Data, to handle: CurlHandle) -> CurlTransfer.Body {
            if data.isEmpty, !request.method.expectsBody { return .none }
            guard data.count > Self.copyLimit else {
                handle.set(NAUTILUS_CURL_POST, 1)
                handle.set(NAUTILUS_CURL_POSTFIELDSIZE_LARGE, size: Int64(data.count))
                handle.set(NAUTILUS_CURL_COPYPOSTFIELDS, copying: data.isEmpty ? Data([0]) : data)
                return .copied
            }
            handle.set(NAUTILUS_CURL_UPLOAD, 1)
            handle.set(NAUTILUS_CURL_INFILESIZE_LARGE, size: Int64(data.count))
            handle.set(NAUTILUS_CURL_UPLOAD_BUFFERSIZE, 262_144)
            return .large(data)
        }
    }

    extension HttpBodyStream {
        /// The body, where it is all in memory and its progress is not observed; nil otherwise.
        var sentAsBytes: Data? {
            if case .bytes(let data) = whole, onSent == nil { data } else { nil }
        }
    }

    extension HttpMethod {
        /// Whether a request without a body says so (RFC 9110 §8.6).
        fileprivate var expectsBody: Bool {
            self == .post || self == .put || self == .patch
        }
    }

    extension URL {
        /// The URL without user and password, which libcurl would send as Basic credentials unasked; nil without an
        /// authority.
        fileprivate var withoutAuthorityUser: String? {
            let text = absoluteString
            // Nearly none has one.
            guard text.utf8.contains(UInt8(ascii: "@")) else { return text }
            guard let start = text.firstRange(of: "://")?.upperBound else { return nil }
            let end = text[start...].firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? text.endIndex
            guard let at = text[start..<end].lastIndex(of: "@") else { return text }
            return String(text[..<start]) + text[text.index(after: at)...]
        }
    }

    extension HttpRequest {
        /// The lines of the header, as libcurl takes them, a zero behind each, with those that it would add by itself and
        /// should not.
        ///
        /// - Throws: ``InvalidRequest`` for an invalid value.
        fileprivate func lines() throws(InvalidRequest) -> [UInt8] {
            var lines: [UInt8] = []
            // Of most headers: they are not copied while they grow.
            lines.reserveCapacity(512)
            // The body follows at once: a server that does not know this waits, and so would we.
            lines.add("Expect:")
            var (hasType, hasCookie, hasAgent, hasEncodings) = (false, false, false, false)
            for field in header.fields where !field.name.isOwnOfTransport {
                guard field.value.hasOnly({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                    throw .headerValue(name: field.name)
                }
                var value = field.value
                switch field.name {
                case .contentType: hasType = true
                case .userAgent: hasAgent = true
                case .acceptEncoding: hasEncodings = true
                case .cookie:
                    if hasCookie { continue }
                    hasCookie = true
                    // Cookies are the one list that is no more than one line (RFC 6265 §5.4).
                    value = header.values(of: .cookie).joined(separator: "; ")
                default: break
                }
                // With a colon and nothing but blanks behind it, libcurl leaves the field out.
                let isBlank = value.hasOnly { $0 == 0x20 || $0 == 0x09 }
                lines.add(field.name.rawValue, isBlank ? ";" : ": ", isBlank ? "" : value)
            }
            if !hasAgent { lines.add("User-Agent: Nautilus") }
            if !hasEncodings, let accepted = ContentDecoder.accepted { lines.add("Accept-Encoding: ", accepted) }
            // libcurl calls a body without a type a form; RFC 9110 §8.3 has a word for "unknown".
            if !hasType { lines.add(hasBytes ? "Content-Type: application/octet-stream" : "Content-Type:") }
            return lines
        }

        private var hasBytes: Bool {
            switch body {
            case .empty: false
            case .data(let data): !data.isEmpty
            case .stream: true
            }
        }
    }

    extension [UInt8] {
        /// Adds a line made of these parts.
        fileprivate mutating func add(_ parts: String...) {
            for part in parts { append(contentsOf: part.utf8) }
            append(0)
        }
    }

    extension HttpHeader.Name {
        fileprivate static let acceptEncoding = HttpHeader.Name("Accept-Encoding")

        /// Whether the field is the transport's own to set.
        fileprivate var isOwnOfTransport: Bool {
            self == "Host" || self == .contentLength || self == "Transfer-Encoding" || self == "Expect"
        }
    }
#endif
