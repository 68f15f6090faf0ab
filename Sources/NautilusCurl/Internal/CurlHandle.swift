#if os(Linux)
    internal import CNautilusCurl
    import Foundation
    import NautilusHTTP

    /// A transfer's handle, which is reused, since a new one costs as much as the rest of a request.
    ///
    /// The options of the transport stay set from one request to the next; the URL and the header, which every request
    /// has, are replaced by those of the next request. If a request sets any other option, the handle is reset after
    /// it.
    final class CurlHandle: @unchecked Sendable {
        // Unchecked: a handle belongs to one exchange at a time, and only the thread that steps the loop uses it, under
        // the loop's lock. A web socket's handle is used by the caller until it is handed to the loop.

        /// The C library's handle.
        let easy: OpaquePointer
        /// Where libcurl writes the text of its last error.
        private let message: UnsafeMutablePointer<CChar>
        /// The addresses of the host, which libcurl does not copy.
        private var addresses: UnsafeMutableRawPointer?
        /// The URL that is set; empty for none.
        private var url = ""
        /// Whether the options of the transport are set.
        private(set) var isPrepared = false
        /// Whether further options are set, for one request.
        private var hasMore = false
        /// Whether the functions of ``CurlTransfer`` are set, which a web socket does not need.
        private var hasFunctions = false

        /// The size that libcurl requires (`CURL_ERROR_SIZE`).
        private static let messageSize = 256

        /// - Parameter headerLimit: The most bytes of a response's header.
        /// - Returns: Nil if there is no memory left.
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

        /// The text of libcurl's last error; empty if there is none.
        var errorText: String { String(cString: message) }

        /// Prepares the handle for another request.
        ///
        /// - Parameter isClean: Whether libcurl has left no state on the handle, such as a count of retries.
        func release(isClean: Bool) {
            nautilus_easy_set_context(easy, nil)
            if !isClean || hasMore || !isComplete { reset() }
            message.pointee = 0
        }

        /// Resets all options, but keeps the memory.
        private func reset() {
            nautilus_easy_reset(easy)
            nautilus_list_destroy(addresses)
            (addresses, url) = (nil, "")
            (isPrepared, hasMore, hasFunctions, isComplete) = (false, false, false, true)
        }

        /// Sets the options that stay, unless they are set already.
        func prepare(_ setOptions: () -> Void) {
            guard !isPrepared else { return }
            take(nautilus_easy_set_pointer(easy, Int32(NAUTILUS_CURL_ERRORBUFFER.rawValue), message))
            setOptions()
            (isPrepared, hasMore) = (true, false)
        }

        /// Whether libcurl has accepted every option since the last reset.
        private(set) var isComplete = true

        func set(_ option: nautilus_curl_option, _ value: Int) {
            take(nautilus_easy_set_number(easy, Int32(option.rawValue), value))
        }

        func set(_ option: nautilus_curl_option, size: Int64) {
            take(nautilus_easy_set_size(easy, Int32(option.rawValue), size))
        }

        /// A text that ends early for libcurl is not taken.
        func set(_ option: nautilus_curl_option, _ text: String) {
            guard !text.utf8.contains(0) else { return take(0) }
            // By `withCString`, since passing the string itself would copy it once more.
            take(text.withCString { nautilus_easy_set_text(easy, Int32(option.rawValue), $0) })
        }

        /// Removes a text that libcurl sets by itself.
        func clear(_ option: nautilus_curl_option) {
            take(nautilus_easy_set_text(easy, Int32(option.rawValue), nil))
        }

        func set(_ option: nautilus_curl_option, copying bytes: Data) {
            take(bytes.withUnsafeBytes { nautilus_easy_set_pointer(easy, Int32(option.rawValue), $0.baseAddress) })
        }

        /// Sets bytes that are not text, such as certificates.
        func set(_ option: nautilus_curl_option, blob: Data) {
            take(
                blob.withUnsafeBytes { bytes in
                    bytes.baseAddress.map { nautilus_easy_set_bytes(easy, Int32(option.rawValue), $0, bytes.count) }
                        ?? 0
                }
            )
        }

        /// Sets the URL, unless it is set already.
        func setUrl(_ url: String) {
            guard url != self.url else { return }
            let isTaken = url.withCString { nautilus_easy_set_text(easy, Int32(NAUTILUS_CURL_URL.rawValue), $0) }
            if isTaken == 0 { isComplete = false }
            self.url = url
        }

        /// Sets the lines of the header, in memory that the handle owns.
        func setLines(_ add: (borrowing CurlHeaderLines) -> Void) {
            add(CurlHeaderLines(easy))
            if nautilus_easy_set_lines(easy, Int32(NAUTILUS_CURL_HTTPHEADER.rawValue)) == 0 { isComplete = false }
        }

        /// Sets the addresses of a host, as `host:port:address,address`.
        func setAddresses(_ text: String) {
            guard !text.utf8.contains(0) else { return take(0) }
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

        /// Notes a setting that libcurl would understand as another one.
        func refuse() { take(0) }

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

        /// Adds a field. A blank value has to be written as libcurl wants it, or libcurl would leave the field out.
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
