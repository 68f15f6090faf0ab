import Foundation
import Nautilus

extension TransportConformance {
    /// Checks that requests arrive as they were meant.
    var requestChecks: [Check] {
        [
            Check("method, path and query arrive as they are") {
                for method in [HttpMethod.get, .post, .put, .patch, .delete, .options, "PROPFIND"] {
                    let response = try await send("/echo?q=a%20b%2Fc&r=%C3%A9", method: method)
                    try expect(response.header["Echo-Method"], is: method.rawValue, "the method")
                    try expect(response.header["Echo-Target"], is: "/echo?q=a%20b%2Fc&r=%C3%A9", "the target")
                }
            },
            Check("HEAD arrives as HEAD and has no body") {
                let response = try await send("/echo", method: .head)
                try expect(response.header["Echo-Method"], is: "HEAD", "the method")
                try expect(response.body, is: Data(), "the body of HEAD")
            },
            Check("header fields arrive as they are") {
                let header: HttpHeader = [
                    "X-Plain": "value", "X-Quoted": "a, \"b; c\"", "Cookie": "a=1; b=2",
                    "Authorization": "Bearer t0k3n",
                ]
                let echo = try await send("/echo", header: header).header
                for field in header.fields {
                    let name = HttpHeader.Name("Echo-\(field.name)")
                    try expect(echo[name] == field.value, is: true, "\(field.name) to arrive unchanged")
                }
            },
            Check("several values of one name all arrive") {
                var header: HttpHeader = ["X-List": "one"]
                header.add("two", to: "x-list")
                let echo = try await send("/echo", header: header).header["Echo-X-List"]
                let values = echo?.split(separator: ",").map { $0.drop { $0 == " " } }
                try expect(values, is: ["one", "two"], "the values of X-List")
            },
            Check("a body arrives byte for byte") {
                let body = Data((0...255).map { UInt8($0) }) + Data("\r\n\r\n0\r\n\r\n".utf8)
                for method in [HttpMethod.post, .put, .patch, .delete] {
                    let response = try await send("/echo", method: method, body: body)
                    try expect(response.body, is: body, "the body of \(method)")
                }
            },
            Check("an empty body arrives as none") {
                try expect(try await send("/echo", method: .post, body: Data()).body, is: Data(), "the body of POST")
            },
            Check("a body in chunks arrives whole and in order") {
                let chunks = (0..<10).map { Data("chunk \($0);".utf8) }
                let stream = HttpBodyStream(from: {
                    AsyncThrowingStream { continuation in
                        for chunk in chunks { continuation.yield(chunk) }
                        continuation.finish()
                    }
                })
                var request = try request("/echo", method: .post)
                request.body = .stream(stream)
                let response = try await makeTransport().send(request, context: context())
                try expect(response.body, is: Data(chunks.joined()), "the body of POST")
            },
            Check("a large request body arrives whole") {
                let body = Self.largeBody(2_000_003)
                let response = try await send("/echo", method: .put, body: body)
                try expect(response.body == body, is: true, "every byte of the body")
            },
        ]
    }
}
