import Testing

@testable import Nautilus
@testable import NautilusHTTP
@testable import NautilusStreams

@Suite("Validators of a partial download")
struct RangeValidatorTests {
    private static let old = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let new = "Mon, 07 Nov 1994 08:49:37 GMT"
    private static let dated: HttpHeader = ["Last-Modified": old, "Date": new]

    @Test("a part with another tag or another date belongs to another file; one without either may belong to it")
    func matches() throws {
        let tag = try #require(RangeValidator(["ETag": "\"1\""]))
        #expect(tag.matches(["ETag": "\"1\""]) && tag.matches([:]))
        #expect(!tag.matches(["ETag": "\"2\""]))
        let date = try #require(RangeValidator(Self.dated))
        #expect(date.matches(["Last-Modified": Self.old]) && date.matches([:]))
        #expect(!date.matches(["Last-Modified": Self.new]))
    }
}
