#if os(Linux)
    internal import CNautilusCurl
    import Foundation

    /// A transfer's handle, used again and again: a new one costs as much as the rest of a request.
    ///
    /// The options of the transport stay on it from one request to the next, and those of a plain request, its URL and
    /// its header, are replaced by the next one's. Anything more is for one request, and the handle is reset behind it.
    final class CurlHandle: @unchecked Sendable {
        // Unchecked: it belongs to one exchange at a time, and is touched only by the thread that steps the loop, under
        // its lock; that of a web socket by its caller, until it is handed to the loop.

        /// The C library's handle.
        let easy: OpaquePointer
        /// Where libcurl writes the text of its last error.
        private let message: UnsafeMutablePointer<CChar>
        /// Addresses of its host, which it does not copy.
        private var addresses: UnsafeMutableRawPointer?
        /// The URL that it has; empty for none.
        private var url = ""
        /// Whether it has the options of the transport.
        private(set) var isPrepared = false
        /// Whether it has options besides, of one request.
        private var hasMore = false
        /// Whether it has the functions of ``CurlTransfer``, which a web socket does without.
        private var hasFunctions = false

        /// Of libcurl (`CURL_ERROR_SIZE`).
        private static let messageSize = 256

        /// - Parameter headerLimit: The most bytes of a response's header.
        /// - Returns: Nil where there is no memory left.
        init?(headerLimit: Int) {
            guard let easy = nautilus_easy_create(max(0, headerLimit)) else { return nil }
            self.easy = easy
            message = .allocate(capacity: Self.messageSize)
            message.initialize(repeating: 0, count: Self.messageSize)
        }

        deinit {
            nautilus_easy_destroy(easy)
            nautilus_list_destroy(addresses)
            message.deallocate()
        }

        /// The text of libcurl's last error; empty when there is none.
        var errorText: String { String(cString: message) }

        /// Makes it ready for another request.
        ///
        /// - Parameter isClean: Whether libcurl has left nothing on it, such as a count of failures.
        func release(isClean: Bool) {
            nautilus_easy_set_context(easy, nil)
            if !isClean || hasMore || !isComplete { reset() }
            message.pointee = 0
        }

        /// Forgets everything but its memory.
        private func reset() {
            nautilus_easy_reset(easy)
            nautilus_list_destroy(addresses)
            (addresses, url) = (nil, "")
            (isPrepared, hasMore, hasFunctions, isComplete) = (false, false, false, true)
        }

        /// Sets the options that stay, unless it has them.
        func prepare(_ setOptions: () -> Void) {
            guard !isPrepared else { return }
            take(nautilus_easy_set_pointer(easy, Int32(NAUTILUS_CURL_ERRORBUFFER.rawValue), message))
            setOptions()
            (isPrepared, hasMore) = (true, false)
        }

        /// Whether all that was set since it was last reset was taken.
        private(set) var isComplete = true

        func set(_ option: nautilus_curl_option, _ value: Int) {
            take(nautilus_easy_set_number(easy, Int32(option.rawValue), value))
        }

        func set(_ option: nautilus_curl_option, size: Int64) {
            take(nautilus_easy_set_size(easy, Int32(option.rawValue), size))
        }

        func set(_ option: nautilus_curl_option, _ text: String) {
            // Not handed over as it is, which would copy it once more.
            take(text.withCString { nautilus_easy_set_text(easy, Int32(option.rawValue), $0) })
        }

        /// Has it do without a text that libcurl has by itself.
        func clear(_ option: nautilus_curl_option) {
            take(nautilus_easy_set_text(easy, Int32(option.rawValue), nil))
        }

        func set(_ option: nautilus_curl_option, copying bytes: Data) {
            take(bytes.withUnsafeBytes { nautilus_easy_set_pointer(easy, Int32(option.rawValue), $0.baseAddress) })
        }

        /// Sets bytes that are no text, such as certificates.
        func set(_ option: nautilus_curl_option, blob: Data) {
            take(
                blob.withUnsafeBytes { bytes in
                    bytes.baseAddress.map { nautilus_easy_set_bytes(easy, Int32(option.rawValue), $0, bytes.count) }
                        ?? 0
                }
            )
        }

        /// Sets the URL, unless it is the one that it has.
        func setUrl(_ url: String) {
            guard url != self.url else { return }
            let isTaken = url.withCString { nautilus_easy_set_text(easy, Int32(NAUTILUS_CURL_URL.rawValue), $0) }
            if isTaken == 0 { isComplete = false }
            self.url = url
        }

        /// Sets the lines of the header, in memory of its own.
        func setLines(_ add: (borrowing CurlHeaderLines) -> Void) {
            add(CurlHeaderLines(easy))
            if nautilus_easy_set_lines(easy, Int32(NAUTILUS_CURL_HTTPHEADER.rawValue)) == 0 { isComplete = false }
        }

        /// Sets where the host is, as `host:port:address,address`.
        func setAddresses(_ text: String) {
            addresses = nautilus_list_create(text)
            guard let addresses else { return take(0) }
            take(nautilus_easy_set_pointer(easy, Int32(NAUTILUS_CURL_RESOLVE.rawValue), addresses))
        }

        /// Has the functions of ``CurlTransfer`` called with `transfer`, which must live until the handle is released.
        func setContext(_ transfer: CurlTransfer) {
            if !hasFunctions { nautilus_easy_set_functions(easy) }
            hasFunctions = true
            nautilus_easy_set_context(easy, Unmanaged.passUnretained(transfer).toOpaque())
        }

        func number(_ info: nautilus_curl_info) -> Int {
            nautilus_easy_number(easy, Int32(info.rawValue))
        }

        func duration(_ info: nautilus_curl_info) -> Duration {
            .microseconds(nautilus_easy_microseconds(easy, Int32(info.rawValue)))
        }

        private func take(_ isTaken: Int32) {
            hasMore = true
            if isTaken == 0 { isComplete = false }
        }
    }

    /// The lines of a request's header, on their way into a handle.
    struct CurlHeaderLines: ~Copyable {
        private let easy: OpaquePointer

        fileprivate init(_ easy: OpaquePointer) {
            self.easy = easy
            nautilus_easy_begin_lines(easy)
        }

        /// Adds a line.
        func add(_ line: StaticString) {
            nautilus_easy_add_to_line(easy, line.utf8Start, line.utf8CodeUnitCount)
            nautilus_easy_end_line(easy)
        }

        /// Adds a field; one with a blank value as libcurl has it, which would leave it out otherwise.
        func add(_ name: String, _ value: String) {
            add(part: name)
            if value.hasOnly({ $0 == 0x20 || $0 == 0x09 }) {
                nautilus_easy_add_to_line(easy, ";", 1)
            } else {
                nautilus_easy_add_to_line(easy, ": ", 2)
                add(part: value)
            }
            nautilus_easy_end_line(easy)
        }

        private func add(part: String) {
            var part = part
            part.withUTF8 { bytes in
                if let start = bytes.baseAddress { nautilus_easy_add_to_line(easy, start, bytes.count) }
            }
        }
    }
#endif
