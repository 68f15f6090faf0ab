import NautilusURLSession

#if os(Linux)
    import NautilusCurl
#endif

/// The default transport of services, chosen once in a process: URL loading's on Apple's platforms; on Linux libcurl's,
/// if there is a libcurl that can be used.
///
/// Both can also be made by name, with a configuration:
///
/// ```swift
/// let uploads = URLSessionTransport(configuration: .init(connectionsPerHost: 2))
/// print(PlatformTransport.reason)
/// ```
public enum PlatformTransport {
    /// `CurlTransport.shared` on Linux if libcurl can be used, and `URLSessionTransport.shared` otherwise.
    public static let shared: any HttpTransport = choice.transport

    /// Why this transport was chosen, for logs and bug reports.
    public static let reason: String = choice.reason

    private static let choice: (transport: any HttpTransport, reason: String) = choose()

    private static func choose() -> (transport: any HttpTransport, reason: String) {
        #if os(Linux)
            if let reason = CurlTransport.unavailability {
                return (URLSessionTransport.shared, "URLSessionTransport: \(reason).")
            }
            return (CurlTransport.shared, "CurlTransport: \(CurlTransport.library ?? "libcurl") is there.")
        #else
            return (URLSessionTransport.shared, "URLSessionTransport: it is the system's own.")
        #endif
    }

    /// The transport of web sockets: libcurl's on Linux, URL loading's on Apple's platforms; elsewhere, and without a
    /// usable libcurl, one that opens none. One for the process, since a service is read for every call.
    static let webSockets: any WebSocketTransport = {
        #if os(Linux)
            if let reason = CurlTransport.unavailability { return WebSocketsUnavailable(reason: reason) }
            return CurlWebSocketTransport.shared
        #elseif canImport(FoundationNetworking)
            return WebSocketsUnavailable()
        #else
            return URLSessionWebSocketTransport()
        #endif
    }()
}
