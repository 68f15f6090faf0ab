import Foundation
import Nautilus

/// The rules of storing (RFC 9111 §3): a pure function of the request and its answer.
enum CacheStorage {
    /// Whether a request can be answered from a cache, and its answer kept: a GET or HEAD for a whole representation.
    ///
    /// Conditions of the caller's own are the caller's business: the answer to them may be a 304, of which a cache that
    /// does not have the caller's copy can make nothing. Parts are not kept (§3.3 allows it).
    static func concerns(_ request: HttpRequest) -> Bool {
        guard request.method == .get || request.method == .head, request.body.isEmpty else { return false }
        return !request.header.fields.contains { conditions.contains($0.name) }
    }

    private static let conditions: Set<HttpHeader.Name> = [
        "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
    ]

    /// Whether a response to a GET may be kept; §3, condition by condition.
    ///
    /// - Parameters:
    ///   - response: The response, as it would be stored.
    ///   - request: The request's `Cache-Control`.
    ///   - lifetime: How long it would be fresh, in seconds.
    ///   - staleIfError: For how long it may stand in for an answer that fails where it does not say so itself, in
    ///     seconds.
    static func allows(
        _ response: StoredResponse,
        request: CacheControl,
        lifetime: Int64,
        staleIfError: Int64
    ) -> Bool {
        // Final, and whole; a 304 is about what is stored already.
        guard (200...599).contains(response.status), ![206, 304].contains(response.status) else { return false }
        // A redirect is one request's answer, which another would follow.
        if [301, 302, 303, 307, 308].contains(response.status) { return false }
        // About one credential, and not about what was asked for: a new one would be refused unseen.
        if [401, 407].contains(response.status) { return false }
        if request.noStore { return false }
        if response.control.mustUnderstand {
            // §5.2.2.3: a cache that understands the status need not heed the `no-store` beside it.
            guard StoredResponse.heuristicStatuses.contains(response.status) else { return false }
        } else if response.control.noStore {
            return false
        }
        let control = response.control
        guard
            control.isStorable || control.maxAge != nil || response.header[.expires] != nil
                || StoredResponse.heuristicStatuses.contains(response.status)
        else { return false }
        // A response that can be neither served nor validated would be kept for nothing.
        if response.mustBeValidated { return response.hasValidator }
        if lifetime > 0 || response.hasValidator || (control.staleWhileRevalidate ?? 0) > 0 { return true }
        // RFC 5861 §4: it may be good for the time in which the server fails.
        return !control.mustRevalidate && control.staleIfError ?? staleIfError > 0
    }

    /// Whether a method may change something (§4.4); of one that is unknown it has to be assumed.
    static func isUnsafe(_ method: HttpMethod) -> Bool {
        switch method {
        case .get, .head, .options, "TRACE": false
        default: true
        }
    }
}

/// The content of a cache's files: a record of all responses to one URL for one account, and a file for each body that
/// is larger than a block of the disk. So what changes often, the header of a response that a 304 has renewed, is
/// written without the body, which does not change.
///
/// Each is sealed by a digest. No file is synchronised when it is written, since a cache may lose what it has; so one
/// that a power failure has torn must not be taken for a response.
enum CacheFile {
    /// Up to how many bytes a body is in the record itself: as many as fit a block of most disks, which is written
    /// anyway.
    static let blockSize = 4_096

    /// Whether the body of a response has a file of its own.
    static func hasBodyFile(_ stored: StoredResponse) -> Bool { stored.body.count > blockSize }

    // MARK: Records

    static func encode(_ responses: [StoredResponse]) throws -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return seal(try encoder.encode(responses.map(Record.init)))
    }

    /// The responses; nil for anything that was not written here, whole.
    ///
    /// - Parameter bodyFile: Reads the content of the file of a body, by its identifier; a response whose body it does
    ///   not find is left out.
    static func decode(_ data: Data, bodyFile: (String) -> Data?) -> [StoredResponse]? {
        records(data)?.compactMap { record in
            (record.body ?? bodyFile(record.bodyID)).flatMap { record.response(body: $0) }
        }
    }

    /// The identifiers of the bodies that a record has in files of their own; none of a damaged one.
    static func bodyFiles(of data: Data) -> [String] {
        (records(data) ?? []).filter { $0.body == nil }.map(\.bodyID)
    }

    private static func records(_ data: Data) -> [Record]? {
        unseal(data).flatMap { try? PropertyListDecoder().decode([Record].self, from: $0) }
    }

    // MARK: Seals

    /// Names the format and its version.
    private static let head = Data("nautilus-cache-2\n".utf8)
    private static let digestSize = 32
    /// How many bytes a file has beside its content.
    static let sealSize = head.count + digestSize

    /// The content of a file.
    static func seal(_ content: Data) -> Data {
        head + Data(Sha256.hash(content)) + content
    }

    /// The sealed content; nil for anything else, and for a seal that is not whole.
    static func unseal(_ data: Data) -> Data? {
        guard data.count >= sealSize, data.starts(with: head) else { return nil }
        let seal = data.dropFirst(head.count).prefix(digestSize)
        let content = Data(data.dropFirst(sealSize))
        return seal.elementsEqual(Sha256.hash(content)) ? content : nil
    }

    private struct Record: Codable {
        let status: Int
        /// Names and values in turn.
        let header: [String]
        let bodyID: String
        /// Nil for one that is in a file of its own.
        let body: Data?
        let selectors: [String: VarySelectors.Value]
        let requestTime: Int64
        let responseTime: Int64

        init(_ stored: StoredResponse) {
            status = stored.status
            header = stored.header.fields.flatMap { [$0.name.rawValue, $0.value] }
            bodyID = stored.bodyID
            body = CacheFile.hasBodyFile(stored) ? nil : stored.body
            selectors = stored.selectors.values
            requestTime = stored.requestTime
            responseTime = stored.responseTime
        }

        func response(body: Data) -> StoredResponse? {
            guard header.count.isMultiple(of: 2) else { return nil }
            let fields = stride(from: 0, to: header.count, by: 2).map {
                HttpHeader.Field(name: HttpHeader.Name(header[$0]), value: header[$0 + 1])
            }
            return StoredResponse(
                status: status,
                header: HttpHeader(fields),
                body: body,
                bodyID: bodyID,
                selectors: VarySelectors(selectors),
                requestTime: requestTime,
                responseTime: responseTime
            )
        }
    }
}
