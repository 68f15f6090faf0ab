import DemoServers
import Testing

@Suite("FormParameters", .timeLimit(.minutes(10)))
struct FormParametersTests {
    @Test(
        "a field is decoded, plus signs and all",
        arguments: [
            ("a=b", "b"), ("a=b+c", "b c"), ("a=b%20c", "b c"), ("a=b%2Bc", "b+c"), ("a=b=c", "b=c"), ("a=", ""),
            ("a", ""), ("x=1&a=%C3%A9", "é"), ("%61=b", "b"), ("a=%zz", "%zz"), ("a=first&a=second", "first"),
        ]
    )
    func decoding(encoded: String, value: String) {
        #expect(FormParameters(encoded)["a"] == value)
    }

    @Test("a field that is not there is nil", arguments: ["", "b=a", "&&", "A=1"])
    func absent(encoded: String) {
        #expect(FormParameters(encoded)["a"] == nil)
    }

    @Test("a field that comes twice is noticed", arguments: [("a=1&b=1", false), ("a=1&a=1", true), ("a=&a=", true)])
    func repeats(encoded: String, hasRepeats: Bool) {
        #expect(FormParameters(encoded).hasRepeats == hasRepeats)
        #expect(FormParameters(encoded).withoutEmpty.hasRepeats == hasRepeats)
    }

    @Test("a field without a value counts as omitted where OAuth asks")
    func empty() {
        let fields = FormParameters("a=&b=1").withoutEmpty
        #expect(fields["a"] == nil)
        #expect(fields["b"] == "1")
    }

    @Test("a form decodes to the values that were encoded", arguments: ["a b", "a+b", "&=?#%", "é…", "-._~"])
    func roundTrip(value: String) {
        #expect(FormParameters(FormParameters.encode(["x": "y", value: value]))[value] == value)
    }

    @Test("fields show no value, whichever way they are printed")
    func redaction() {
        let request = ApiRequest(method: "GET", path: "/", query: .init("code=s3cret"), authorization: "Basic s3cret")
        for value: Any in [request, request.query] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] { #expect(!text.contains("s3cret")) }
        }
    }
}
