import Foundation
import Nautilus

/// The content of a cache's files: a record of all responses to one URL for one account, and a file for each body that
/// is larger than a block of the disk. So what changes often, the header of a response that a 304 has renewed, is
/// written without the body, which does not change.
///
/// Each file is sealed with a digest. Since a cache may lose what it has, its files are not synchronised when they are
/// written; the digest keeps a file that was torn by a power failure from being read as a response.
enum CacheFile {
    /// The largest body that is kept in the record itself: it fits into one block of most disks, which is written
    /// anyway.
    static let blockSize = 4_096

    /// Whether the body of a response has its own file.
    static func hasBodyFile(_ stored: StoredResponse) -> Bool { stored.body.count > blockSize }

    // MARK: Records

    static func encode(_ responses: [StoredResponse]) throws -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return seal(try encoder.encode(responses.map(Record.init)))
    }

    /// The responses; nil for data that was not written here, or is not whole.
    ///
    /// - Parameter bodyFile: Reads the content of a body's file by the body's identifier. A response whose body is not
    ///   found is left out.
    static func decode(_ data: Data, bodyFile: (String) -> Data?) -> [StoredResponse]? {
        records(data)?.compactMap { record in
            (record.body ?? bodyFile(record.bodyID)).flatMap { record.response(body: $0) }
        }
    }

    /// The identifiers of a record's bodies that have their own files; none for a damaged record.
    static func bodyFiles(of data: Data) -> [String] {
        (records(data) ?? []).filter { $0.body == nil }.map(\.bodyID)
    }

    private static func records(_ data: Data) -> [Record]? {
        unseal(data).flatMap { try? PropertyListDecoder().decode([Record].self, from: $0) }
    }

    // MARK: Seals

    /// The name of the format, with its version.
    private static let head = Data("nautilus-cache-2\n".utf8)
    private static let digestSize = 32
    /// How many bytes a file has in addition to its content.
    static let sealSize = head.count + digestSize

    /// A file's bytes for this content.
    static func seal(_ content: Data) -> Data {
        head + Data(Sha256.hash(content)) + content
    }

    /// The sealed content; nil for anything else, or when the seal does not match.
    static func unseal(_ data: Data) -> Data? {
        guard data.count >= sealSize, data.starts(with: head) else { return nil }
        let seal = data.dropFirst(head.count).prefix(digestSize)
        let content = Data(data.dropFirst(sealSize))
        return seal.elementsEqual(Sha256.hash(content)) ? content : nil
    }

    private struct Record: Codable {
        let status: Int
        /// Names and values, alternating.
        let header: [String]
        let bodyID: String
        /// Nil for a body that has its own file.
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
