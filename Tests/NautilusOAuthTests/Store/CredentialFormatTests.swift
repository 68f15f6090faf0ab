import Foundation
import Testing

@testable import NautilusOAuth

@Suite("CredentialFormat")
struct CredentialFormatTests {
    private static let key = StoredText.key
    private static let place = "a.json"

    private static func read(_ data: Data, _ key: CredentialKey = key) throws -> StoredCredential {
        try CredentialFormat.decode(data, for: key, place: place)
    }

    private static func read(_ text: String) throws -> StoredCredential { try read(Data(text.utf8)) }

    /// What is read from an intact file with these fields after the head.
    private static func readSealed(version: Int = 1, _ fields: String) throws -> StoredCredential {
        try read(CredentialSeal.close(version: version, content: Data("{\(fields)}".utf8)))
    }

    @Test("what is written stays the same, byte by byte, and so does what is read")
    func literal() throws {
        let written = try CredentialFormat.encode(StoredText.stored, for: Self.key, place: Self.place)
        #expect(String(decoding: written, as: UTF8.self) == StoredText.current)
        #expect(try Self.read(StoredText.current) == StoredText.stored)
    }

    static let credentials: [OAuthCredential] = [
        OAuthCredential(accessToken: ""),
        OAuthCredential(accessToken: "\"\\/\u{0}\n\u{7f}é😀\u{2028}", refreshToken: "", tokenType: "bearer"),
        OAuthCredential(accessToken: "a", scope: []),
        OAuthCredential(accessToken: "a", scope: OAuthScope(["with blank", "b"])),
        OAuthCredential(accessToken: "a", lifetime: .zero),
        OAuthCredential(accessToken: "a", lifetime: Duration(secondsComponent: 1, attosecondsComponent: 1)),
        OAuthCredential(accessToken: "a", lifetime: .seconds(315_576_000_000)),
        OAuthCredential(accessToken: "a", receivedAt: .distantPast),
        OAuthCredential(accessToken: "a", receivedAt: Date(timeIntervalSinceReferenceDate: 0.1 + 0.2)),
        OAuthCredential(accessToken: String(repeating: "a", count: 100_000)),
    ]

    @Test("a credential comes back equal", arguments: credentials)
    func roundTrip(_ credential: OAuthCredential) throws {
        let stored = StoredCredential(session: UUID(), credential: credential, unanswered: 3)
        #expect(try Self.read(CredentialFormat.encode(stored, for: Self.key, place: Self.place)) == stored)
    }

    @Test("numbers beyond all sense are written as the nearest that can be calculated with")
    func extremes() throws {
        let credential = OAuthCredential(accessToken: "a", lifetime: .seconds(Int64.max) * 15)
        let stored = StoredCredential(session: UUID(), credential: credential, unanswered: .max)
        let read = try Self.read(CredentialFormat.encode(stored, for: Self.key, place: Self.place))
        #expect(read.credential.lifetime == .seconds(315_576_000_000))
        #expect(read.unanswered == 2_147_483_647)
        let negative = StoredCredential(session: UUID(), credential: credential, unanswered: .min)
        #expect(try Self.read(CredentialFormat.encode(negative, for: Self.key, place: Self.place)).unanswered == 0)
    }

    @Test("a time that is no number cannot be written")
    func notFinite() {
        let credential = OAuthCredential(accessToken: "a", receivedAt: Date(timeIntervalSinceReferenceDate: .nan))
        #expect(throws: CredentialStoreError.other(type: "EncodingError")) {
            try CredentialFormat.encode(.init(session: UUID(), credential: credential), for: Self.key, place: "p")
        }
    }

    @Test("cut off anywhere, it is damaged")
    func truncated() {
        let whole = Data(StoredText.current.utf8)
        for count in 0..<whole.count {
            #expect(throws: CredentialStoreError.damaged(place: "a.json")) { try Self.read(whole.prefix(count)) }
        }
    }

    @Test("with any bit flipped, it is damaged")
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

    @Test("what was ours is damaged", arguments: remnants.keys.sorted())
    func damaged(_ name: String) throws {
        let text = try #require(Self.remnants[name])
        #expect(throws: CredentialStoreError.damaged(place: "a.json")) { try Self.read(text) }
    }

    static let others: [String] = [
        "{}", "null", "x", "\0x", #"{"access_token":"a"}"#, #"{"format":"other","version":1}"#,
        " " + StoredText.current + " ",
    ]

    @Test("what has neither our head nor our digest is foreign", arguments: others)
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
        #expect(read.credential.accessToken == "a")
    }

    static let brokenRecords: [String: String] = [
        #""unanswered":0"#: #""unanswered":-1"#, #""seconds":5"#: #""seconds":-1"#,
        #""attoseconds":0"#: #""attoseconds":1000000000000000000"#, #""tokenType":"Bearer","#: "",
        #""receivedAt":1"#: #""receivedAt":1e999"#, #""accessToken":"a""#: #""accessToken":null"#,
        #""scope":["s"]"#: #""scope":"s""#, "D9EEA514": "D9EEA51",
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

    @Test("up to 1 MiB is written and read, and not a byte more")
    func size() throws {
        func stored(_ count: Int) -> StoredCredential {
            let credential = OAuthCredential(
                accessToken: String(repeating: "a", count: count),
                receivedAt: .distantPast
            )
            return StoredCredential(session: UUID(), credential: credential)
        }
        let overhead = try CredentialFormat.encode(stored(0), for: Self.key, place: Self.place).count
        let largest = stored(1_048_576 - overhead)
        let written = try CredentialFormat.encode(largest, for: Self.key, place: Self.place)
        #expect(written.count == 1_048_576)
        #expect(try Self.read(written) == largest)
        #expect(throws: CredentialStoreError.system(operation: "encode", place: "a.json", code: Int(EFBIG))) {
            try CredentialFormat.encode(stored(1_048_577 - overhead), for: Self.key, place: Self.place)
        }
        #expect(throws: CredentialStoreError.damaged(place: "a.json")) { try Self.read(written + [0]) }
    }

    private static let keyField = #""key":{"issuer":"https://as.example/","client":"notes","account":"anna"}"#
    private static let recordField = #"""
        "record":{"accessToken":"a","lifetime":{"attoseconds":0,"seconds":5},"number":1,"receivedAt":1,"scope":["s"],\#
        "session":"D9EEA514-7B66-475A-B317-D892F05DA985","tokenType":"Bearer","unanswered":0}
        """#
}
