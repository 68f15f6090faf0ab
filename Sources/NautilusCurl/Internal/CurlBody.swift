#if os(Linux)
    internal import CNautilusCurl
    import Foundation
    import NautilusHTTP

    /// The body of an answer as it arrives: decoded, and passed on to its reader or kept.
    struct CurlBody {
        /// The most bytes that are kept.
        private let limit: Int
        /// Where the body goes; nil if it is kept.
        private let download: CurlDownload?
        private var decoders: ContentDecoders?
        /// The body as it was sent, as long as it may turn out not to be coded as the header says; nil for a success, whose
        /// body counts only if it is.
        private var sent: Data?
        /// Whether anything was decoded.
        private var hasOutput = false
        /// The bytes that are kept.
        private(set) var bytes = Data()
        /// How many bytes have arrived, before decoding.
        private(set) var count: Int64 = 0
        /// Why the body counts for nothing; nil if it does.
        private(set) var failure: TransportError?

        /// Whether a coded body has ended before its coding did.
        private(set) var lacksEnd = false

        init(limit: Int, download: CurlDownload?) {
            (self.limit, self.download) = (limit, download)
        }

        /// Prepares for the body that follows `head`.
        ///
        /// - Returns: Whether the body can be read.
        mutating func begin(_ head: CurlResponseHead) -> Bool {
            guard !head.hasUnrequestedCoding else {
                failure = .unrequestedCoding
                return false
            }
            guard head.codings.count <= ContentDecoders.limit else {
                failure = TransportError(.cannotDecodeContentData)
                return false
            }
            decoders = ContentDecoders(head.codings)
            if decoders != nil, !(200..<300).contains(head.status) { sent = Data() }
            guard download == nil, let length = head.contentLength else { return true }
            guard length <= Int64(limit) || head.status >= 300 else {
                failure = .responseTooLarge(limit: limit)
                return false
            }
            // Announcing a length costs the server nothing, so it must cost little here.
            if decoders == nil { bytes.reserveCapacity(min(Int(clamping: length), limit, 1_048_576)) }
            return true
        }

        /// Takes the next bytes.
        ///
        /// - Returns: How many bytes were taken, or a `nautilus_curl_answer`.
        mutating func take(_ bytes: UnsafeRawBufferPointer) -> Int {
            // libcurl keeps the bytes that are not taken now, and delivers them again.
            if download?.isFull() == true { return Int(NAUTILUS_CURL_PAUSE.rawValue) }
            switch decode(bytes) {
            case .more: break
            case .later: return Int(NAUTILUS_CURL_PAUSE.rawValue)
            case .never: return 0
            }
            count += Int64(bytes.count)
            return bytes.count
        }

        private mutating func decode(_ input: UnsafeRawBufferPointer) -> ContentDecoder.Demand {
            guard let decoders else { return keep(input) ? .more : .never }
            do throws(ContentDecoder.Broken) {
                let demand = try decoders.run(input) { piece in
                    hasOutput = true
                    guard keep(piece) else { return .never }
                    return download?.isFull() == true ? .later : .more
                }
                if demand == .more { sent?.append(contentsOf: input) }
                let isTooLong = sent.map { $0.count > HttpResponse<Data>.errorBodyLimit } == true
                if isTooLong || hasOutput && download != nil { self.sent = nil }
                return demand
            } catch {
                failure = TransportError(.cannotDecodeContentData)
                sent?.append(contentsOf: input)
                return keepSent(isBroken: true) ? .more : .never
            }
        }

        /// Has an error's body as it was sent in place of what was decoded, if the header was wrong about its coding.
        ///
        /// - Parameter isBroken: Whether it cannot be decoded, or only lacks its end.
        /// - Returns: Whether that is so.
        private mutating func keepSent(isBroken: Bool) -> Bool {
            guard let sent, !hasOutput || download == nil else { return false }
            // Coded bytes are no text. Some codings have no mark at their beginning, and make something of any text.
            guard isBroken && !hasOutput || String(validating: sent, as: UTF8.self) != nil else { return false }
            (decoders, self.sent, bytes) = (nil, nil, Data())
            return sent.withUnsafeBytes { keep($0) }
        }

        /// Ends the body, since no more bytes come.
        mutating func end() {
            guard failure == nil, decoders?.isWhole == false else { return }
            lacksEnd = true
            _ = keepSent(isBroken: false)
        }

        private mutating func keep(_ part: UnsafeRawBufferPointer) -> Bool {
            if let download { return download.write(part) }
            guard bytes.count + part.count <= limit else {
                bytes.append(contentsOf: part.prefix(limit - bytes.count))
                failure = failure ?? .responseTooLarge(limit: limit)
                return false
            }
            bytes.append(contentsOf: part)
            return true
        }
    }
#endif
