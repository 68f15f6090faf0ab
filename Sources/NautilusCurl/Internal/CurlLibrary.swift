#if os(Linux)
    internal import CNautilusCurl
    import Foundation
    import NautilusHTTP
    import FoundationNetworking

    /// The libcurl of this process, which Foundation's networking has loaded anyway. It is found, and its functions are
    /// bound, in `Sources/CNautilusCurl/binding.c`.
    struct CurlLibrary: Sendable {
        /// The version, as `7.88.1`.
        let version: String
        /// The TLS library below it, as `OpenSSL/3.0.19`.
        let tls: String
        /// The version as a number, `0xXXYYZZ`.
        let number: UInt32

        /// Why the library cannot be used, in words for people.
        struct Unusable: Error, Hashable, Sendable, CustomStringConvertible {
            let description: String
        }

        /// The library, looked for and initialized once.
        static let found = Result<CurlLibrary, Unusable> { () throws(Unusable) in try find() }

        /// The oldest usable version, 7.80. From then on, a repeated send can be noticed and refused
        /// (`CURLOPT_PREREQFUNCTION`); without that, it is unknown what a server has executed.
        static let oldestNumber: UInt32 = 0x07_50_00

        /// Whether the library is 7.87 or later. From then on, a thread that must not get a SIGPIPE may start a
        /// transfer, and a transfer that still looks up its host's name can be ended without waiting.
        var isSafeOnAnyThread: Bool { number >= 0x07_57_00 }

        private static func find() throws(Unusable) -> CurlLibrary {
            var found = nautilus_curl_version()
            switch nautilus_curl_bind(&found) {
            case NAUTILUS_CURL_BOUND: break
            case NAUTILUS_CURL_NO_LIBRARY: throw Unusable(description: "there is no libcurl.so.4")
            default: throw Unusable(description: "libcurl lacks a function, so it is older than 7.80")
            }
            let library = CurlLibrary(
                version: found.text.map { String(cString: $0) } ?? "",
                tls: found.tls.map { String(cString: $0) } ?? "",
                number: found.number
            )
            try library.check(features: found.features)
            if found.features & UInt32(NAUTILUS_CURL_FEATURE_THREAD_SAFE.rawValue) == 0 {
                // Such a library must not be initialized by two threads at once. Foundation initializes it when it
                // makes its first session, and never again.
                _ = URLSession(configuration: .ephemeral)
            }
            guard nautilus_curl_initialize(CurlTransfer.functions) == NAUTILUS_CURL_BOUND else {
                throw Unusable(description: "libcurl \(library.version) could not be initialized")
            }
            return library
        }

        private func check(features: UInt32) throws(Unusable) {
            guard number >= Self.oldestNumber else {
                throw Unusable(description: "libcurl is \(version), older than 7.80")
            }
            guard features & UInt32(NAUTILUS_CURL_FEATURE_ASYNC_DNS.rawValue) != 0 else {
                throw Unusable(description: "libcurl \(version) blocks while it looks names up")
            }
            guard Self.isSafe(tls: tls) else {
                throw Unusable(description: "libcurl's TLS library is not one that threads can share: \(tls)")
            }
        }

        /// Whether threads can share a TLS library without locks that its first user would have to set.
        ///
        /// - Parameter tls: The name and version of the library; if there are several, those not in use are in
        ///   parentheses.
        static func isSafe(tls: String) -> Bool {
            guard let library = tls.split(separator: " ").first(where: { !$0.hasPrefix("(") }) else { return false }
            let parts = library.split(separator: "/", maxSplits: 1)
            switch parts.first {
            case "BoringSSL", "AWS-LC", "LibreSSL", "GnuTLS", "quictls": return true
            case "OpenSSL":
                let numbers = parts.last?.split(separator: ".").prefix(2).compactMap { Int($0) } ?? []
                return numbers.count == 2 && (numbers[0], numbers[1]) >= (1, 1)
            default: return false
            }
        }
    }
#endif
