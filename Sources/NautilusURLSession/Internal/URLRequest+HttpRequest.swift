import Foundation
import NautilusHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLRequest {
    /// Creates Foundation's form of `request`.
    ///
    /// - Throws: `HttpRequest.Invalid` for a request that must not be sent, and `TransportError` for a URL that is not
    ///   HTTP. Nothing was sent.
    init(_ request: HttpRequest, body: Data?) throws {
        try request.validateForTransport()
        self.init(url: request.url.withoutUserInfo, timeoutInterval: URLSessionTransport.backstop)
        if request.method != .get { httpMethod = request.method.rawValue }
        if let body, !body.isEmpty { httpBody = body }
        var fields = request.header.joinedFields
        // Foundation would call a POST body without a type a form; RFC 9110 §8.3 has a type for "unknown".
        if httpBody != nil, request.header[.contentType] == nil { fields["Content-Type"] = "application/octet-stream" }
        if !fields.isEmpty { allHTTPHeaderFields = fields }
    }
}

extension HttpHeader {
    /// The fields as Foundation accepts them: one value per name.
    fileprivate var joinedFields: [String: String] {
        var joined: [String: String] = [:]
        for (index, field) in fields.enumerated() {
            guard !fields[..<index].contains(where: { $0.name == field.name }) else { continue }
            joined[field.name.rawValue] = field.name == .cookie ? joinedCookies : self[field.name]
        }
        return joined
    }
}

extension URL {
    /// The URL without user and password, which libcurl would otherwise send as Basic credentials.
    fileprivate var withoutUserInfo: URL {
        guard user != nil || password != nil else { return self }
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        (components.user, components.password) = (nil, nil)
        return components.url ?? self
    }
}

/// A request in Foundation's form, with the values that `URLRequest` has no place for.
struct OutgoingRequest: Sendable {
    let request: URLRequest
    let priority: HttpRequest.Priority
    /// The file that Foundation itself sends as the body, with its length; nil if the body is in the request.
    var file: URL?

    /// Creates a task that carries the request.
    func task(in session: URLSession) -> URLSessionDataTask {
        let task = file.map { session.uploadTask(with: request, fromFile: $0) } ?? session.dataTask(with: request)
        switch priority {
        case .low: task.priority = URLSessionTask.lowPriority
        case .normal: break
        case .high: task.priority = URLSessionTask.highPriority
        }
        return task
    }
}

/// A body on its way into a streamed exchange.
struct OutgoingBody {
    /// The bytes in memory; nil if there are none.
    private(set) var data: Data?
    /// The file that Foundation sends; nil if it sends none.
    private(set) var file: URL?
    /// The file, if it was made for this exchange; nil if there is none, or it is the caller's.
    private(set) var spool: SpoolFile?
    /// Called with the number of bytes that have been sent; nil if nobody observes it, or it was reported while the
    /// chunks were made.
    private(set) var onSent: (@Sendable (Int64) -> Void)?

    /// - Parameter spoolLimit: The most bytes of chunks that are kept until they are sent.
    /// - Throws: `TransportError`, before anything is sent, for a one-shot stream that has been read before, or if
    ///   the chunks cannot be kept until they are sent; the error with which the chunks end.
    init(_ body: HttpBody.Payload, spoolLimit: Int) async throws {
        switch body {
        case .empty: break
        case .data(let bytes): data = bytes
        case .stream(let stream):
            switch stream.whole {
            case .bytes(let bytes)?: (data, onSent) = (bytes, stream.onSent)
            case .file(let url)?: (file, onSent) = (url, stream.onSent)
            case nil:
                guard stream.isReplayable else { throw TransportError(.alreadyRead) }
                let spool = try await SpoolFile(stream, limit: spoolLimit)
                (self.spool, file) = (spool, spool.url)
            }
        }
    }
}

extension HttpHeader {
    /// Creates the header of a response, sorted by name, since the original order is lost in Foundation's dictionary.
    ///
    /// Foundation joins the values of one name by commas. Lists stay joined, which means the same (RFC 9110 §5.3);
    /// `Set-Cookie` is not a list, so it is split again.
    init(_ response: HTTPURLResponse) {
        let joined = response.allHeaderFields
        var fields: [Field] = []
        fields.reserveCapacity(joined.count)
        for (key, value) in joined {
            guard let key = key as? String, let value = value as? String else { continue }
            let name = Name(key)
            if name == .setCookie {
                fields += SetCookieValues.split(value).map { Field(name: name, value: $0) }
            } else {
                fields.append(Field(name: name, value: value))
            }
        }
        // Sorting is stable, which keeps the cookies in their order.
        fields.sort { $0.name.rawValue < $1.name.rawValue }
        self.init(fields)
    }
}

/// Splits `Set-Cookie` values that Foundation has joined.
enum SetCookieValues {
    /// Returns the values in `joined`. A comma separates two values if a cookie's name and `=` follow it.
    ///
    /// The comma of a date (`Expires=Wed, 21 Oct 2026 07:28:00 GMT`) is followed by a blank within the next word, and a
    /// cookie's own value has no comma (RFC 6265 §4.1.1). A value that contains a comma nevertheless, directly followed
    /// by a name and `=`, cannot be told from two cookies.
    static func split(_ joined: String) -> [String] {
        let bytes = Array(joined.utf8)
        var values: [String] = []
        var start = 0
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: ",") {
            guard beginsWithName(bytes[(index + 1)...]) else { continue }
            values.append(text(bytes[start..<index]))
            start = index + 1
        }
        values.append(text(bytes[start...]))
        return values
    }

    /// Whether a token and `=` come next, possibly after blanks.
    private static func beginsWithName(_ bytes: ArraySlice<UInt8>) -> Bool {
        let word = bytes.drop { $0 == UInt8(ascii: " ") }
        guard let end = word.firstIndex(where: { !$0.isTokenCharacter }) else { return false }
        return end > word.startIndex && word[end] == UInt8(ascii: "=")
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
    }
}

extension HTTPURLResponse {
    /// How many bytes the reader of a streamed body will get; nil if that is not known in advance.
    ///
    /// - Parameter method: The method of the request.
    func streamedLength(to method: String?) -> Int64? {
        guard announcesBody(to: method) else { return 0 }
        return expectedContentLength >= 0 && !isEncoded ? expectedContentLength : nil
    }

    /// Whether `Content-Length` announces a body (RFC 9110 §8.6). It does not after HEAD and in a 304, where it
    /// describes the body of another response, nor in responses that never have a body.
    ///
    /// - Parameter method: The method of the request that is answered.
    func announcesBody(to method: String?) -> Bool {
        switch statusCode {
        case 100..<200, 204, 304: false
        default: method != HttpMethod.head.rawValue
        }
    }

    /// Whether a body follows with a transfer coding besides `chunked`, which no request asks for (RFC 9112 §6.1).
    ///
    /// - Parameter method: The method of the request that is answered.
    func hasUnrequestedCoding(to method: String?) -> Bool {
        guard announcesBody(to: method), let value = value(forHTTPHeaderField: "Transfer-Encoding") else {
            return false
        }
        let names = value.lowercased().split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        return !names.allSatisfy { ["", "chunked", "identity"].contains($0) }
    }

    /// Whether the body is encoded, so that its length as sent says nothing about the bytes that are read.
    private var isEncoded: Bool {
        value(forHTTPHeaderField: "Content-Encoding").map { $0.lowercased() != "identity" } ?? false
    }
}
