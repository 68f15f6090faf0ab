/// The transport of every service that names no other, chosen once in a process: URL loading's on Apple's platforms; on
/// Linux libcurl's, where there is one that is new enough.
///
/// Both are there by name as well, with choices of their own:
///
/// ```swift
/// let uploads = URLSessionTransport(configuration: .init(connectionsPerHost: 2))
/// print(PlatformTransport.reason)
/// ```
public enum PlatformTransport {
    /// `CurlTransport.shared` on Linux where libcurl can be used, and ``URLSessionTransport/shared`` elsewhere.
    public static let shared: any HttpTransport = choice.transport

    /// Why it is that one, for logs and bug reports.
    public static let reason: String = choice.reason

    private static let choice: (transport: any HttpTransport, reason: String) = choose()

    private static func choose() -> (transport: any HttpTransport, reason: String) {
        #if os(Linux)
            switch CurlLibrary.found {
            case .success(let library):
                let reason = "CurlTransport: libcurl \(library.version) with \(library.tls) is there."
                return (CurlTransport.shared, reason)
            case .failure(let reason):
                return (URLSessionTransport.shared, "URLSessionTransport: \(reason).")
            }
        #else
            return (URLSessionTransport.shared, "URLSessionTransport: it is the system's own.")
        #endif
    }
}
