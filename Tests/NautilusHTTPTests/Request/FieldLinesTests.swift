import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

/// A header that is read where it lies is the one that all of its fields make.
@Suite("Field lines, read where they lie")
struct FieldLinesTests {
    private static let names = ["Date", "ETag", "Set-Cookie", "X-A", "X-Ab", "Content-Type", "ä", "X- "]
    private static let values = [
        "", "1", "a: b", ":: c", "Sat, 21 Nov 2026 04:18:07 GMT", "ä", "\t b \t", "application/json",
    ]
    private static let asked: [HttpHeader.Name] = [
        "date", "ETAG", "set-cookie", "x-a", "X-AB", "Content-Type", "ä", "", "X", "X-A:", "X-A::",
    ]

    @Test("any lines give the same answers, read where they lie or as texts")
    func sameAnswers() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<trials(2_000) {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let name = Self.names.randomElement(using: &random) ?? ""
                let value = Self.values.randomElement(using: &random) ?? ""
                let blank = Bool.random(using: &random) ? " " : ""
                let end = Bool.random(using: &random) ? "\r\n" : "\n"
                bytes += Array("\(name):\(blank)\(value)\(end)".utf8)
                if Int.random(in: 0..<10, using: &random) == 0 { bytes += Array(" goes on\r\n".utf8) }
                if Int.random(in: 0..<10, using: &random) == 0 { bytes += Array("Odd: ".utf8) + [0xE9, 0x0D, 0x0A] }
            }
            let lying = HttpHeader(lines: bytes)
            let text = HttpHeader(FieldLines.fields(of: bytes))
            #expect(lying == text && text == lying && lying.hashValue == text.hashValue)
            #expect(lying.isEmpty == text.isEmpty && lying.fields == text.fields)
            for name in Self.asked {
                #expect(lying[name] == text[name])
                #expect(lying.values(of: name) == text.values(of: name))
            }
            var (changed, expected) = (lying, text)
            changed["X-A"] = "new"
            expected["X-A"] = "new"
            #expect(changed == expected && lying == text)
            let other: HttpHeader = ["Date": "now"]
            #expect(other.merging(lying) == other.merging(text) && lying.merging(other) == text.merging(other))
        }
    }

    @Test("field lines that cannot be read in place are parsed into text at once")
    func whatLies() {
        let lines = [
            "A: 1\r\nB: 2\r\n", "A: 1\r\n 2\r\n", "A : 1\r\n", "A: é\r\n", ": 1\r\n", "A\r\n", " A: 1\r\n", "",
        ]
        #expect(
            lines.map { FieldLines(Array($0.utf8)) != nil } == [true, false, false, false, false, false, false, true]
        )
    }

    @Test("lines are equal to the same lines and to the same fields, and a change makes fields of them")
    func equality() {
        let bytes = Array("A: 1\r\n".utf8)
        let header = HttpHeader(lines: bytes)
        var changed = header
        changed.add("2", to: "B")
        #expect(header == HttpHeader(lines: Array("A: 1\r\n".utf8)))
        #expect(header == HttpHeader(header.fields) && header != changed)
        #expect(header.fields == [HttpHeader.Field(name: "A", value: "1")])
        #expect(changed.fields.map(\.value) == ["1", "2"])
    }

    @Test("a secret in it is not printed")
    func secrets() {
        let header = HttpHeader(lines: Array("Set-Cookie: s3cret\r\nDate: now\r\n".utf8))
        var dumped = ""
        dump(header, to: &dumped)
        #expect(header.description == "Set-Cookie: ‹redacted›\nDate: now")
        #expect(!dumped.contains("s3cret") && !"\(header)".contains("s3cret"))
    }

    @Test("a line that begins with a blank goes on with the value before it; without one, it says nothing")
    func folded() {
        let lines = " A: 0\r\nA: 1\r\n 2\r\n\tb: 3\r\nB: 4\r\n"
        let fields = [HttpHeader.Field(name: "A", value: "1 2 b: 3"), HttpHeader.Field(name: "B", value: "4")]
        #expect(HttpHeader(lines: Array(lines.utf8)).fields == fields)
    }
}
