import Testing

@testable import Nautilus

@Suite("Punycode")
struct PunycodeTests {
    /// RFC 3492 §7.1, the samples that a host name can hold.
    @Test(
        "labels are encoded as the RFC's samples have it",
        arguments: [
            ("ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"),
            ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
            ("他們爲什麽不說中文", "ihqwctvzc91f659drss3x8bo0yb"),
            ("למההםפשוטלאמדבריםעברית", "4dbcagdahymbxekheh6e0a7fei0b"),
            ("почемужеонинеговорятпорусски", "b1abfaaepdrnnbgefbadotcwatmq2g4l"),
            ("3年b組金八先生", "3b-ww4c5e180e575a65lsy2b"),
            ("ひとつ屋根の下2", "2-u9tlzr9756bt3uc0v"),
            ("パフィーdeルンバ", "de-jg4avhby1noc0d"),
        ]
    )
    func samples(label: String, expected: String) {
        #expect(Punycode.encode(Array(label.unicodeScalars)) == expected)
    }

    @Test(
        "hosts become lowercase ASCII",
        arguments: [
            ("api.example.com", "api.example.com"),
            ("API.Example.COM", "api.example.com"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("BÜCHER.example", "xn--bcher-kva.example"),
            ("bu\u{308}cher.example", "xn--bcher-kva.example"),
            ("faß.de", "xn--fa-hia.de"),
            ("日本語。example", "xn--wgv71a119e.example"),
            ("ｅｘａｍｐｌｅ．com", "example.com"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("my_host", "my_host"),
            ("example.com.", "example.com."),
            ("127.0.0.1", "127.0.0.1"),
        ]
    )
    func hosts(name: String, expected: String) {
        #expect(Punycode.host(name[...]) == expected)
    }

    @Test(
        "what is no host name is refused, also when it hides in a compatibility form",
        arguments: [
            "", ".", "..", "a..b", ".a", "a b", "a/b", "a\u{2100}b", "a\u{FF0F}b", "a\u{FF20}b", "a%41", "a,b",
            "ü\u{200B}", "ü\u{AD}", "ü\u{2028}", "ü\u{0}", String(repeating: "a", count: 64),
            String(repeating: "ü", count: 64), Array(repeating: "abcdefg", count: 32).joined(separator: "."),
        ]
    )
    func refused(name: String) {
        #expect(Punycode.host(name[...]) == nil)
    }
}
