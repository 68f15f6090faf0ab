import Nautilus
import NautilusPages
import NautilusTesting
import TestSupport
import Testing

@Suite("Links (RFC 8288)")
struct LinkFieldTests {
    @Test(
        "a Link field is read",
        arguments: [
            ("", ""),
            ("<https://a.example/2>; rel=\"next\"", "https://a.example/2 [next]"),
            ("</2>; rel=next", "/2 [next]"),
            ("<>; rel=self", " [self]"),
            ("</2>;rel = \"next\" ; title=\"page 2\"", "/2 [next]"),
            ("</2>; REL=Next", "/2 [next]"),
            ("</2>; rel=\"prev  next\thttp://a/rel\"", "/2 [prev next http://a/rel]"),
            ("</a,b>; rel=next, </c;d>; rel=last", "/a,b [next] | /c;d [last]"),
            ("</2>; title=\"one, <two>; rel=last\"; rel=next, </9>; rel=last", "/2 [next] | /9 [last]"),
            ("</2>; title=\"a \\\"quoted\\\", comma\"; rel=next", "/2 [next]"),
            ("</2>; rel=prev; rel=next", "/2 [prev]"),
            ("</2>; rel", "/2 []"),
            ("</2>;;; rel=next;", "/2 [next]"),
            ("</2>", "/2 []"),
            (" ,, </2>; rel=next ,", "/2 [next]"),
            ("</2>; rel=next; anchor=\"/other\"", "/2 [next] of /other"),
            // Not links, or only in part.
            ("next=/2", ""), ("</2; rel=next", ""), ("\"</2>; rel=next", ""),
            ("nonsense, </2>; rel=next", "/2 [next]"),
            ("</2> nonsense; rel=next, </3>; rel=last", "/2 [] | /3 [last]"),
            // A comma in quotes ends nothing, wherever the quotes stand.
            ("</2> \"a, </3>; rel=next\", </4>", "/2 [] | /4 []"),
            ("</2>; rel=prev \"a, </3>; rel=next\", </4>", "/2 [prev] | /4 []"),
            ("\"a, </3>; rel=next\", </4>", "/4 []"),
            ("</2>; rel=\"next", "/2 [next]"),
            ("</2>; rel=\"ne\\", "/2 [ne\\]"),
        ]
    )
    func field(text: String, expected: String) {
        let header: HttpHeader = ["Link": text]
        let links = header.links.map { link in
            "\(link.target) [\(link.relations.joined(separator: " "))]" + (link.anchor.map { " of \($0)" } ?? "")
        }
        #expect(links.joined(separator: " | ") == expected)
    }

    @Test("several fields are one list, and the first link of a relation counts that has no anchor")
    func lookup() {
        let header: HttpHeader = [
            "Link": "</1>; rel=prev, </other>; rel=next; anchor=\"/x\"",
            "link": "</3>; rel=\"last next\", </4>; rel=next",
        ]
        #expect(header.links.map(\.target) == ["/1", "/other", "/3", "/4"])
        #expect(header.link("next") == "/3")
        #expect(header.link("NEXT") == "/3")
        #expect(header.link("first") == nil)
        #expect(header.links.last?.parameters == ["rel": "next"])
    }

    @Test("a description shows neither query nor password")
    func redaction() {
        let header: HttpHeader = [
            "Link": "</2?cursor=s3cret>; rel=next, <https://me:s3cret@a.example/>; rel=last, </3#s3cret>; rel=prev"
        ]
        var dumped = ""
        dump(header.links, to: &dumped)
        let texts = header.links.map { "\($0) \(String(reflecting: $0))" } + [dumped]
        #expect(!texts.contains { $0.contains("s3cret") })
        #expect(header.links.map(\.description) == ["next: /2?…", "last: ‹redacted›", "prev: /3?…"])
    }

    @Test("garbage never traps, and a link in front of it is still read", arguments: 0..<10 as Range<UInt64>)
    func fuzz(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("<>,;=\"\\ \trelnxt/?#%@:é\u{0}\u{7F}\u{1F41A}*'")
        for _ in 0..<trials(2_000) {
            let length = Int.random(in: 0...40, using: &generator)
            let garbage = String((0..<length).map { _ in alphabet.randomElement(using: &generator) ?? "," })
            let header: HttpHeader = ["Link": "</2>; rel=next, " + garbage]
            #expect(header.links.first?.target == "/2")
            #expect(header.link("next") == "/2")
            let alone: HttpHeader = ["Link": garbage]
            #expect(alone.links.count <= garbage.utf8.count / 2)
        }
    }
}
