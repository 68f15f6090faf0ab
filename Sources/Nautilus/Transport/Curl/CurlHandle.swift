#if os(Linux)
    internal import CNautilusCurl
    import Foundation

    /// A transfer's handle, used again and again: a new one costs as much as the rest of a request.
    final class CurlHandle: @unchecked Sendable {
        // Unchecked: it belongs to one exchange at a time, prepared by the caller, and from there on touched only by
        // the thread that steps the loop, under its lock.

        /// The C library's handle.
        let easy: UnsafeMutableRawPointer
        /// Where libcurl writes the text of its last error.
        private let message: UnsafeMutablePointer<CChar>
        /// The header lines, which it does not copy.
        private var lines: UnsafeMutableRawPointer?
        /// Addresses of its host, likewise.
        private var addresses: UnsafeMutableRawPointer?

        /// Of libcurl (`CURL_ERROR_SIZE`).
        private static let messageSize = 256

        /// - Returns: Nil where there is no memory left.
        init?() {
            guard let easy = nautilus_easy_create() else { return nil }
            self.easy = easy
            message = .allocate(capacity: Self.messageSize)
            message.initialize(repeating: 0, count: Self.messageSize)
        }

        deinit {
            nautilus_easy_destroy(easy)
            nautilus_list_destroy(lines)
            nautilus_list_destroy(addresses)
            message.deallocate()
        }

        /// The text of libcurl's last error; empty when there is none.
        var errorText: String { String(cString: message) }

        /// Forgets everything but its memory.
        func reset() {
            nautilus_easy_reset(easy)
            nautilus_list_destroy(lines)
            nautilus_list_destroy(addresses)
            (lines, addresses) = (nil, nil)
            message.pointee = 0
            isComplete = true
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

        /// Sets the lines of the header: their bytes, with a zero behind each.
        func setLines(_ texts: [UInt8]) {
            lines = nautilus_list_create(texts, texts.count)
            setList(NAUTILUS_CURL_HTTPHEADER, lines)
        }

        /// Sets where the host is, as `host:port:address,address`.
        func setAddresses(_ text: String) {
            addresses = nautilus_list_create(text, text.utf8.count + 1)
            setList(NAUTILUS_CURL_RESOLVE, addresses)
        }

        private func setList(_ option: nautilus_curl_option, _ list: UnsafeMutableRawPointer?) {
            guard let list else { return take(0) }
            take(nautilus_easy_set_pointer(easy, Int32(option.rawValue), list))
        }

        /// Has the functions of ``CurlTransfer`` called with `transfer`, which must live until the next ``reset()``.
        func setContext(_ transfer: CurlTransfer) {
            nautilus_easy_set_context(easy, Unmanaged.passUnretained(transfer).toOpaque())
            keepErrorText()
        }

        /// Has libcurl leave its words for errors in ``errorText``.
        func keepErrorText() {
            take(nautilus_easy_set_pointer(easy, Int32(NAUTILUS_CURL_ERRORBUFFER.rawValue), message))
        }

        func number(_ info: nautilus_curl_info) -> Int {
            nautilus_easy_number(easy, Int32(info.rawValue))
        }

        func duration(_ info: nautilus_curl_info) -> Duration {
            .microseconds(nautilus_easy_microseconds(easy, Int32(info.rawValue)))
        }

        private func take(_ isTaken: Int32) {
            if isTaken == 0 { isComplete = false }
        }
    }
#endif
