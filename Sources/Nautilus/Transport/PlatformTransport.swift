/// The transport that suits the platform best, chosen once in a process.
///
/// Services that name none use ``URLSessionTransport/shared``; this one is chosen by name:
///
/// ```swift
/// var transport: any HttpTransport { PlatformTransport.shared }
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
