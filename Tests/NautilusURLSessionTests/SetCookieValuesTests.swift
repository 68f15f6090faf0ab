import Testing

@testable import NautilusHTTP
@testable import NautilusURLSession

@Suite("Set-Cookie values that Foundation has joined")
struct SetCookieValuesTests {
    @Test(
        arguments: [
            ("a=1", ["a=1"]),
            ("a=1,b=2", ["a=1", "b=2"]),
            ("a=1, b=2", ["a=1", "b=2"]),
            (
                "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/, b=2; Path=/",
                ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/", "b=2; Path=/"]
            ),
            (
                "a=1; Expires=Wednesday, 21-Oct-26 07:28:00 GMT,__Host-b=2; Secure",
                ["a=1; Expires=Wednesday, 21-Oct-26 07:28:00 GMT", "__Host-b=2; Secure"]
            ),
            ("a=\"x,y\"; Path=/", ["a=\"x,y\"; Path=/"]),
            ("a=x,y; Path=/,b=2", ["a=x,y; Path=/", "b=2"]),
            ("a=,b=", ["a=", "b="]),
            ("", [""]),
            (",", [","]),
            ("a=1,", ["a=1,"]),
            ("a=1,=2", ["a=1,=2"]),
        ]
    )
    func splits(joined: String, values: [String]) {
        #expect(SetCookieValues.split(joined) == values)
    }
}
