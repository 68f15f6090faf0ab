import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("ContentRange")
struct ContentRangeTests {
    @Test(
        "a Content-Range is read in its one form",
        arguments: [
            ("bytes 0-0/1", "0 0 1"), ("Bytes 5-9/10", "5 9 10"), ("bytes 5-9/*", "5 9 nil"),
            ("bytes 5-4/10", nil), ("bytes 5-9/9", nil), ("bytes */10", nil), ("bytes 5-/10", nil),
            ("bytes 5-9", nil), ("items 5-9/10", nil), ("bytes -5-9/10", nil), ("", nil),
            ("bytes 5-99999999999999999999/*", nil), ("bytes 5-9223372036854775807/*", nil), ("bytes 5-9/x", nil),
        ]
    )
    func reads(text: String, expected: String?) {
        let range = ContentRange(text).map { "\($0.first) \($0.last) \($0.total.map { "\($0)" } ?? "nil")" }
        #expect(range == expected)
    }
}
