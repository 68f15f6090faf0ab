import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPURLResponse {
    /// How many bytes the reader of a streamed body gets; nil when that is unknown before they have come.
    ///
    /// - Parameter method: The method of the request.
    func streamedLength(to method: String?) -> Int64? {
        guard announcesBody(to: method) else { return 0 }
        return expectedContentLength >= 0 && !isEncoded ? expectedContentLength : nil
    }

    /// Whether `Content-Length` means a body that follows (RFC 9110 §8.6): not after HEAD and 304, where it describes
    /// another one, nor where there never is one.
    ///
    /// - Parameter method: The method that it answers.
    func announcesBody(to method: String?) -> Bool {
        switch statusCode {
        case 100..<200, 204, 304: false
        default: method != HttpMethod.head.rawValue
        }
    }

    /// Whether its length on the wire says nothing of the bytes that are read.
    private var isEncoded: Bool {
        value(forHTTPHeaderField: "Content-Encoding").map { $0.lowercased() != "identity" } ?? false
    }
}
