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
    /// `CurlTransport.shared` on Linux if libcurl can be used, and ``URLSessionTransport/shared`` otherwise.
    public static let shared: any HttpTransport = choice.transport

    /// Why this transport was chosen, for logs and bug reports.
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
