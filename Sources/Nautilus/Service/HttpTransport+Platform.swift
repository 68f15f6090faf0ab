import NautilusURLSession

#if os(Linux)
    import NautilusCurl
#endif

extension HttpTransport where Self == URLSessionTransport {
    /// The default transport of services, one for the process: `CurlTransport.shared` on Linux if libcurl can be used
    /// (`CurlTransport/unavailability`), and `URLSessionTransport.shared` otherwise.
    ///
    /// Both can also be made by name, with a configuration:
    ///
    /// ```swift
    /// let uploads = URLSessionTransport(configuration: .init(connectionsPerHost: 2))
    /// ```
    public static var platform: any HttpTransport {
        #if os(Linux)
            if CurlTransport.unavailability == nil { return CurlTransport.shared }
        #endif
        return URLSessionTransport.shared
    }
}

/// The transport of web sockets: libcurl's on Linux, URL loading's on Apple's platforms; elsewhere, and without a
/// usable libcurl, one that opens none. One for the process, since a service is read for every call.
let platformWebSockets: any WebSocketTransport = {
    #if os(Linux)
        if let reason = CurlTransport.unavailability { return WebSocketsUnavailable(reason: reason) }
        return CurlWebSocketTransport.shared
    #elseif canImport(FoundationNetworking)
        return WebSocketsUnavailable()
    #else
        return URLSessionWebSocketTransport()
    #endif
}()
