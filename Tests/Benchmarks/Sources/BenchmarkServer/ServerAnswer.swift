import Foundation

/// The header fields of the document. Foundation's shared session has a cache, which costs it something as soon as the
/// document could be stored; Nautilus has none.
public enum ServerAnswer: String, CaseIterable {
    /// Line by line as nginx answers with a file: dated, with a tag, and nothing said of caches.
    case dated
    /// The same, not to be stored.
    case noStore

    /// The response as it is sent.
    var response: Data {
        let cacheControl = self == .noStore ? "Cache-Control: no-store\r\n" : ""
        let header = """
            HTTP/1.1 200 OK\r
            Server: nginx/1.22.1\r
            Date: Sat, 21 Nov 2026 04:18:07 GMT\r
            Content-Type: application/json\r
            Content-Length: \(Note.json.count)\r
            Last-Modified: Sat, 21 Nov 2026 04:00:00 GMT\r
            Connection: keep-alive\r
            ETag: "655c2e70-66"\r
            Accept-Ranges: bytes\r
            \(cacheControl)\r

            """
        return Data(header.utf8) + Note.json
    }

    /// Its name in the report.
    public var title: String {
        switch self {
        case .dated: "an answer that could be stored"
        case .noStore: "an answer that must not be stored"
        }
    }
}
