import Foundation
import Nautilus

extension TransportConformance {
    /// Checks that responses come back as they were sent.
    var responseChecks: [Check] {
        [
            Check("every status is a response, not an error") {
                for status in [200, 201, 204, 304, 400, 401, 403, 404, 418, 429, 500, 503, 599] {
                    let response = try await send("/status/\(status)")
                    try expect(response.status, is: status, "the status of /status/\(status)")
                    let text = status == 204 || status == 304 ? "" : "status \(status)"
                    try expect(String(decoding: response.body, as: UTF8.self), is: text, "the body of \(status)")
                }
            },
            Check("a redirect is returned, not followed") {
                let response = try await send("/redirect")
                try expect(response.status, is: 302, "the status of /redirect")
                try expect(response.header[.location], is: "/echo", "its Location")
                try expect(String(decoding: response.body, as: UTF8.self), is: "moved", "its body")
            },
            Check("a 401 that asks for Basic credentials is returned with its body and header") {
                let response = try await send("/basic-401")
                try expect(response.status, is: 401, "the status of /basic-401")
                let challenge = response.header[.wwwAuthenticate]
                try expect(challenge, is: "Basic realm=\"conformance\"", "its WWW-Authenticate")
                try expect(String(decoding: response.body, as: UTF8.self), is: "who are you", "its body")
            },
            Check("header fields are found without regard to case, and lists keep all their values") {
                let header = try await send("/headers").header
                try expect(header["x-mixed-CASE"], is: "Kept", "X-Mixed-Case")
                let values = header["X-Multi"]?.split(separator: ",").map { $0.drop { $0 == " " } }
                try expect(values, is: ["one", "two"], "the values of X-Multi")
            },
            Check("cookies come one by one, with the commas of their dates") {
                let header = try await send("/headers").header
                let cookies = Self.responseFields.filter { $0.name == "Set-Cookie" }.map(\.value)
                try expect(header.values(of: .setCookie), is: cookies, "the values of Set-Cookie")
            },
            Check("a large body arrives whole") {
                let count = 3_000_001
                let response = try await send("/large/\(count)")
                try expect(response.body == Self.largeBody(count), is: true, "every byte of /large/\(count)")
            },
            Check("an empty body is an empty body") {
                try expect(try await send("/large/0").body, is: Data(), "the body of /large/0")
            },
            Check("the response says where it came from") {
                let response = try await send("/echo?page=2")
                try expect(response.url, is: try request("/echo?page=2").url, "the response's URL")
            },
        ] + limitChecks
    }

    private var limitChecks: [Check] {
        guard let makeLimited else { return [] }
        return [
            Check("a body as large as the limit is taken") {
                let response = try await send("/large/100000", through: makeLimited(100_000))
                try expect(response.body.count, is: 100_000, "the bytes of a body at the limit")
            },
            Check("a body larger than the limit is refused") {
                let error = try await expectTransportError("a body over the limit") {
                    try await send("/large/100001", through: makeLimited(100_000))
                }
                try expect(error, is: .responseTooLarge(limit: 100_000), "the error")
            },
            Check("HEAD of something larger than the limit is no large body") {
                let response = try await send("/large/100001", method: .head, through: makeLimited(100_000))
                try expect(response.status, is: 200, "the status of HEAD")
            },
        ]
    }
}
