#if os(Linux)
    internal import CNautilusCurl
    import Foundation
    import NautilusHTTP
    import FoundationNetworking

    /// A request in the form in which libcurl gets it.
    struct CurlRequest: Sendable {
        let request: HttpRequest
        let origin: HttpOrigin
        private let url: String

        /// The largest body that libcurl copies without TLS; it reads a larger one in parts. 64 KiB: copying that much
        /// costs less than the callbacks to read it.
        private static let copyLimit = 65_536

        /// The most bytes of one TLS record (RFC 8446 §5.1). If OpenSSL is given more bytes at once, it sends them in
        /// several records, and reports nothing as written before the last one is sent. The server could then have a
        /// part of a request that counts as not sent. So OpenSSL is given no more than one record at once.
        private static let recordLimit = 16_384

        /// - Throws: `HttpRequest.Invalid` for a request that must not be sent, and `TransportError` for a URL that is
        ///   not HTTP or a stream that has been read before. Nothing was sent.
        init(_ request: HttpRequest) throws {
            // libcurl would send line breaks as they are.
            try request.validate()
            guard let origin = request.origin, origin.scheme == "https" || origin.scheme == "http" else {
                try request.validateForTransport()
                throw TransportError(.badURL)
            }
            if case .stream(let stream) = request.body, !stream.isReplayable {
                throw TransportError(HttpBodyStream.ReadError.alreadyRead)
            }
            guard let url = request.url.withoutAuthorityUser else { throw TransportError(.badURL) }
            try request.header.validateForWire()
            self.request = request
            self.origin = origin
            self.url = url
        }

        /// Whether the request goes over TLS.
        var isSecure: Bool { origin.scheme == "https" }

        /// The port of a request over TLS; nil without TLS.
        var securePort: Int? { isSecure ? origin.port : nil }

        /// Sets everything that libcurl has to know about the request.
        ///
        /// - Returns: The body, if libcurl has to read it in parts; nil if libcurl has a copy, or the body is a stream.
        func apply(to handle: CurlHandle) -> Data? {
            handle.setUrl(url)
            handle.setLines { request.add(to: $0) }
            if request.method == .head { handle.set(NAUTILUS_CURL_NOBODY, 1) }
            let body = applyBody(to: handle)
            if request.method != .get, request.method != .head {
                handle.set(NAUTILUS_CURL_CUSTOMREQUEST, request.method.rawValue)
            }
            return body
        }

        private func applyBody(to handle: CurlHandle) -> Data? {
            switch request.body {
            case .empty: return applyBytes(Data(), to: handle)
            case .data(let data): return applyBytes(data, to: handle)
            case .stream(let stream):
                if let data = stream.sentAsBytes { return applyBytes(data, to: handle) }
                handle.set(NAUTILUS_CURL_UPLOAD, 1)
                // Without a length, the body is sent in chunks.
                handle.set(NAUTILUS_CURL_INFILESIZE_LARGE, size: stream.length ?? -1)
                setPartSize(of: handle)
                return nil
            }
        }

        private func applyBytes(_ data: Data, to handle: CurlHandle) -> Data? {
            if data.isEmpty, !request.method.expectsBody { return nil }
            guard data.count > (isSecure ? Self.recordLimit - headerSize : Self.copyLimit) else {
                handle.set(NAUTILUS_CURL_POST, 1)
                handle.set(NAUTILUS_CURL_POSTFIELDSIZE_LARGE, size: Int64(data.count))
                handle.set(NAUTILUS_CURL_COPYPOSTFIELDS, copying: data.isEmpty ? Data([0]) : data)
                return nil
            }
            handle.set(NAUTILUS_CURL_UPLOAD, 1)
            handle.set(NAUTILUS_CURL_INFILESIZE_LARGE, size: Int64(data.count))
            setPartSize(of: handle)
            return data
        }

        /// Sets how much of a body libcurl reads at once. Each part that it has written counts as progress.
        private func setPartSize(of handle: CurlHandle) {
            handle.set(NAUTILUS_CURL_UPLOAD_BUFFERSIZE, isSecure ? Self.recordLimit : 65_536)
        }

        /// An upper bound for the size of the header as it is sent. 1 KiB is for the lines that libcurl adds.
        private var headerSize: Int {
            request.header.fields.reduce(1_024 + url.utf8.count) {
                $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count + 4
            }
        }
    }

    extension HttpBodyStream {
        /// The body, if all of it is in memory and nobody observes its progress; otherwise nil.
        var sentAsBytes: Data? {
            if case .bytes(let data) = whole, onSent == nil { data } else { nil }
        }
    }

    extension HttpHeader {
        /// Refuses values with control characters (RFC 9110 §5.5).
        fileprivate func validateForWire() throws(HttpRequest.Invalid) {
            for field in fields {
                guard field.value.hasOnly({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                    throw .headerValue(name: field.name)
                }
            }
        }
    }

    extension HttpRequest {
        /// Adds the lines of the header, including those that keep libcurl from adding fields of its own.
        fileprivate func add(to lines: borrowing CurlHeaderLines) {
            let isPlain = method == .get || method == .head
            // This line keeps libcurl from sending `Expect`, so that it sends the body at once. With `Expect`, it would
            // first wait for an answer, even from a server that does not know the field and waits for the body.
            if !isPlain { lines.add("Expect:") }
            var (hasType, hasCookie, hasAgent, hasEncodings) = (false, false, false, false)
            for field in header.fields {
                switch field.name {
                case .contentType: hasType = true
                case .userAgent: hasAgent = true
                case .acceptEncoding: hasEncodings = true
                case .cookie:
                    if !hasCookie { lines.add(field.name.rawValue, header.joinedCookies) }
                    hasCookie = true
                    continue
                default: break
                }
                lines.add(field.name.rawValue, field.value)
            }
            if !hasAgent { lines.add("User-Agent: Nautilus") }
            if !hasEncodings, let accepted = ContentDecoder.accepted { lines.add("Accept-Encoding", accepted) }
            guard !isPlain, !hasType else { return }
            // If a body has no type, libcurl adds the type of a form. By RFC 9110 §8.3, `application/octet-stream` is
            // the type for unknown data.
            if hasBytes {
                lines.add("Content-Type: application/octet-stream")
            } else {
                lines.add("Content-Type:")
            }
        }

        private var hasBytes: Bool {
            switch body {
            case .empty: false
            case .data(let data): !data.isEmpty
            case .stream: true
            }
        }
    }

    extension HttpHeader.Name {
        fileprivate static let acceptEncoding = HttpHeader.Name("Accept-Encoding")
    }
#endif
