import Foundation

/// The content of one file: the responses of one URL for one account, sealed by a digest.
///
/// A file is not synchronised when it is written, since a cache may lose what it has; so one that a power failure has
/// torn must not be taken for a response.
enum CacheFile {
    /// Says whose format it is, and of which version.
    private static let head = Data("nautilus-cache-1\n".utf8)
    private static let digestSize = 32

    static func encode(_ responses: [StoredResponse]) throws -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let content = try encoder.encode(responses.map(Record.init))
        return head + Data(Sha256.hash(content)) + content
    }

    /// The responses; nil for anything that was not written here, whole.
    static func decode(_ data: Data) -> [StoredResponse]? {
        guard data.count > head.count + digestSize, data.starts(with: head) else { return nil }
        let seal = data.dropFirst(head.count).prefix(digestSize)
        let content = Data(data.dropFirst(head.count + digestSize))
        guard seal.elementsEqual(Sha256.hash(content)) else { return nil }
        let records = try? PropertyListDecoder().decode([Record].self, from: content)
        return records?.compactMap(\.response)
    }

    private struct Record: Codable {
        let status: Int
        /// Names and values in turn.
        let header: [String]
        let body: Data
        let selectors: [String: String]
        /// The selectors whose fields were not there.
        let absent: [String]
        let requestTime: Int64
        let responseTime: Int64

        init(_ stored: StoredResponse) {
            status = stored.status
            header = stored.header.fields.flatMap { [$0.name.rawValue, $0.value] }
            body = stored.body
            selectors = stored.selectors.compactMapValues { $0 }
            absent = stored.selectors.filter { $0.value == nil }.keys.sorted()
            requestTime = stored.requestTime
            responseTime = stored.responseTime
        }

        var response: StoredResponse? {
            guard header.count.isMultiple(of: 2) else { return nil }
            let fields = stride(from: 0, to: header.count, by: 2).map {
                HttpHeader.Field(name: HttpHeader.Name(header[$0]), value: header[$0 + 1])
            }
            var selectors: [String: String?] = selectors
            for name in absent { selectors.updateValue(nil, forKey: name) }
            return StoredResponse(
                status: status,
                header: HttpHeader(fields),
                body: body,
                selectors: selectors,
                requestTime: requestTime,
                responseTime: responseTime
            )
        }
    }
}
