import Foundation
import Testing

@testable import NautilusSessions

@Suite("CredentialFormat")
struct CredentialFormatTests {
    private static let key = StoredText.key
    private static let place = "a.json"

    private static func read(_ data: Data, _ key: CredentialKey = key) throws -> StoredCredential {
        try CredentialFormat.decode(data, for: key, place: place)
    }

    private static func read(_ text: String) throws -> StoredCredential { try read(Data(text.utf8)) }

    /// Reads the credential from an intact file with these fields after the head.
    private static func readSealed(version: Int = 1, _ fields: String) throws -> StoredCredential {
        try read(CredentialSeal.close(version: version, content: Data("{\(fields)}".utf8)))
    }

    @Test("the stored form of a credential stays the same, byte by byte")
    func literal() throws {
        let written = try CredentialFormat.encode(StoredText.stored, for: Self.key, place: Self.place)
        #expect(String(decoding: written, as: UTF8.self) == StoredText.current)
        #expect(try Self.read(StoredText.current) == StoredText.stored)
    }

    static let contents: [Data] = [
        Data(), Data([0]), Data([0, 0xFF, 0x0A]), Data("{\"a\":\"\\/é😀\u{2028}\"}".utf8), Data(count: 100_000),
    ]

    @Test("a credential comes back equal, whatever its bytes are", arguments: contents)
    func roundTrip(_ content: Data) throws {
        let stored = StoredCredential(session: UUID(), refreshCount: 2, content: content, unanswered: 3)
        #expect(try Self.read(CredentialFormat.encode(stored, for: Self.key, place: Self.place)) == stored)
    }

    @Test("a stored credential keeps its marks of an expired session", arguments: [false, true])
    func marks(isMarked: Bool) throws {
        let content = isMarked ? Data() : Data([1])
        let marks = [(isMarked, false), (false, isMarked)]
        for (hasExpired, cameExpired) in marks {
            let stored = StoredCredential(
                session: UUID(),
                content: content,
                hasExpired: hasExpired,
                cameExpired: cameExpired
            )
            let read = try Self.read(CredentialFormat.encode(stored, for: Self.key, place: Self.place))
            #expect((read.hasExpired, read.cameExpired) == (hasExpired, cameExpired))
        }
    }

    @Test("numbers beyond all sense are written as the nearest that can be calculated with")
    func extremes() throws {
        let stored = StoredCredential(session: UUID(), refreshCount: .max, content: Data(), unanswered: .max)
        let read = try Self.read(CredentialFormat.encode(stored, for: Self.key, place: Self.place))
        #expect((read.unanswered, read.refreshCount) == (1_000_000_000, 1_000_000_000))
        let negative = StoredCredential(session: UUID(), content: Data(), unanswered: .min)
        #expect(try Self.read(CredentialFormat.encode(negative, for: Self.key, place: Self.place)).unanswered == 0)
    }

    @Test("a stored credential that is cut off anywhere is damaged")
    func truncated() {
        let whole = Data(StoredText.current.utf8)
        for count in 0..<whole.count {
            #expect(throws: CredentialStoreError.damaged(place: "a.json")) { try Self.read(whole.prefix(count)) }
        }
    }

    @Test("a record with any bit flipped is damaged")
    func flipped() async {
        let whole = Array(StoredText.current.utf8)
        for bit in 0..<whole.count * 8 {
            // Other tests share the thread.
            if bit.isMultiple(of: 20) { await Task.yield() }
            var bytes = whole
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: CredentialStoreError.damaged(place: "a.json")) { try Self.read(Data(bytes)) }
        }
    }

    static let remnants: [String: String] = [
        "nothing": "", "the zeros of a crash": String(repeating: "\0", count: 500),
        "more after it": StoredText.current + "\n", "twice": StoredText.current + StoredText.current,
    ]

    @Test("a damaged record of this library is reported as damaged", arguments: remnants.keys.sorted())
    func damaged(_ name: String) throws {
        let text = try #require(Self.remnants[name])
        #expect(throws: CredentialStoreError.damaged(place: "a.json")) { try Self.read(text) }
    }

    static let others: [String] = [
        "{}", "null", "x", "\0x", #"{"access_token":"a"}"#, #"{"format":"other","version":1}"#,
        " " + StoredText.current + " ",
    ]

    @Test("a record with neither this library's head nor its digest is foreign", arguments: others)
    func foreign(_ text: String) {
        #expect(throws: CredentialStoreError.foreign(place: "a.json")) { try Self.read(text) }
    }

    @Test(
        "another key's credential is foreign, whatever its record is",
        arguments: [
            CredentialKey(issuer: "https://as.example", client: "notes", account: "anna"),
            CredentialKey(issuer: "https://as.example/", client: "Notes", account: "anna"),
            CredentialKey(issuer: "https://as.example/", client: "notes"),
        ]
    )
    func otherKey(_ key: CredentialKey) {
        #expect(throws: CredentialStoreError.foreign(place: "a.json")) {
            try Self.read(Data(StoredText.current.utf8), key)
        }
        #expect(throws: CredentialStoreError.foreign(place: "a.json")) {
            try Self.readSealed(#""key":{"issuer":"i","client":"c","account":""},"record":0"#)
        }
    }

    @Test("a newer format is told apart, whatever else there is; an older one there never was")
    func versions() {
        #expect(throws: CredentialStoreError.newerFormat(place: "a.json", version: 7)) {
            try Self.read(StoredText.newer)
        }
        #expect(throws: CredentialStoreError.newerFormat(place: "a.json", version: 2)) {
            try Self.readSealed(version: 2, "\(Self.keyField),\(Self.recordField)")
        }
        for version in [0, -1] {
            #expect(throws: CredentialStoreError.damaged(place: "a.json")) {
                try Self.readSealed(version: version, "\(Self.keyField),\(Self.recordField)")
            }
        }
    }

    @Test("fields that are not known are ignored, wherever they are")
    func unknownFields() throws {
        let key = Self.keyField.dropLast() + #","realm":[1,{"a":null}]}"#
        let record = Self.recordField.dropLast() + #","zone":"x"}"#
        let read = try Self.readSealed(#""added":true,\#(key),"more":{},\#(record),"last":1.5"#)
        #expect(read.content == Data("a".utf8))
    }

    static let brokenRecords: [String: String] = [
        #""unanswered":0"#: #""unanswered":-1"#, #""number":1"#: #""number":0"#,
        #","unanswered":0"#: #","unanswered":0,"renewals":-1"#, #""unanswered":0}"#: "}",
        #""credential":"YQ==""#: #""credential":null"#, "YQ==": "?", "D9EEA514": "D9EEA51",
    ]

    @Test("intact bytes with a record that cannot be used are damaged", arguments: brokenRecords.keys.sorted())
    func brokenRecord(_ part: String) throws {
        _ = try Self.readSealed("\(Self.keyField),\(Self.recordField)")
        let record = Self.recordField.replacingOccurrences(of: part, with: try #require(Self.brokenRecords[part]))
        #expect(record != Self.recordField)
        #expect(throws: CredentialStoreError.damaged(place: "a.json")) {
            try Self.readSealed("\(Self.keyField),\(record)")
        }
    }

    @Test(
        "intact bytes that are no such object are damaged",
        arguments: [
            "", "]", #""key":[],"record":{}"#, keyField, #""key":"# + String(repeating: "[", count: 200_000),
        ]
    )
    func noObject(_ fields: String) {
        #expect(throws: CredentialStoreError.damaged(place: "a.json")) { try Self.readSealed(fields) }
    }

    @Test("a record of up to 1 MiB is written and read, and not a byte more")
    func size() throws {
        func encoded(_ content: Data, _ key: CredentialKey) throws -> Data {
            try CredentialFormat.encode(.init(session: UUID(), content: content), for: key, place: Self.place)
        }
        func key(_ count: Int) -> CredentialKey {
            CredentialKey(issuer: "i", client: "c", account: String(repeating: "a", count: count))
        }
        // Base64 makes four characters of three bytes; the key fills up what is left.
        let left = try 1_048_576 - encoded(Data(), key(0)).count
        let largest = Data(count: left / 4 * 3)
        let written = try encoded(largest, key(left % 4))
        #expect(written.count == 1_048_576)
        #expect(try Self.read(written, key(left % 4)).content == largest)
        #expect(throws: CredentialStoreError.system(operation: "encode", place: "a.json", code: Int(EFBIG))) {
            try encoded(largest, key(left % 4 + 1))
        }
        #expect(throws: CredentialStoreError.damaged(place: "a.json")) { try Self.read(written + [0], key(left % 4)) }
    }

    private static let keyField = #""key":{"issuer":"https://as.example/","client":"notes","account":"anna"}"#
    private static let recordField = #"""
        "record":{"credential":"YQ==","number":1,"session":"D9EEA514-7B66-475A-B317-D892F05DA985","unanswered":0}
        """#
}
