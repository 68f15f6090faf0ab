import Testing

extension Documentation {
    @Suite(
        "Labels that other libraries have",
        .enabled(if: SwiftCompiler.isAvailable, "there is no compiler on this platform")
    )
    struct WrongLabelTests {
        /// A call with a label that is not ours → what the compiler says of it, with a fix-it.
        static let calls = [
            (#"AnyHttpService(baseURL: "api.test")"#, "has been renamed to 'init(apiUrl:"),
            (
                #"AnyHttpService(baseUrl: "api.test", transport: ScriptedTransport())"#,
                "has been renamed to 'init(apiUrl:"
            ),
            (#"AnyHttpService(apiUrl: "api.test", headers: ["A": "b"])"#, "expected 'apiUrl:header:'"),
            (#"AnyRequest(.get, ["notes"], headers: ["A": "b"])"#, "expected '_:_:header:'"),
            (#"MultipartForm.Part.text("a", name: "b")"#, "expected '_:named:'"),
            (#"MultipartForm.Part.data(Data(), named: "b", filename: "c")"#, "expected '_:named:fileName:'"),
            (#"ScriptedReply.status(404, headers: ["A": "b"])"#, "expected '_:header:'"),
        ]

        @Test("the compiler names this library's label for another library's", arguments: calls)
        func named(call: String, text: String) async throws {
            let script = "import Foundation\nimport Nautilus\nimport NautilusTesting\n_ = \(call)\n"
            #expect(try await SwiftCompiler.complaints(about: script).contains(text))
        }
    }
}
