import Foundation
import Nautilus

extension TransportConformance {
    /// Checks that requests arrive as they were meant.
    var requestChecks: [Check] {
        [
            Check("method, path and query arrive as they are") {
                for method in [HttpMethod.get, .post, .put, .patch, .delete, .options, .query, "PROPFIND"] {
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
            Check("a field that only the transport writes is refused") {
                for name in ["Host", "Content-Length", "Transfer-Encoding", "Expect"] as [HttpHeader.Name] {
                    do {
                        _ = try await send("/echo", method: .post, header: [name: "1"], body: Data("1".utf8))
                    } catch is HttpRequest.Invalid {
                        continue
                    }
                    throw Failure(
                        description: "Expected \(name) to be refused as an HttpRequest.Invalid, but it was sent."
                    )
                }
            },
            Check("a body arrives byte for byte") {
                let body = Data((0...255).map { UInt8($0) }) + Data("\r\n\r\n0\r\n\r\n".utf8)
                for method in [HttpMethod.post, .put, .patch, .delete, .query] {
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

extension TransportConformance {
    /// Checks that an exchange that fails or is cancelled ends, and says how.
    var failureChecks: [Check] {
        [
            Check("a connection that is closed without an answer is a transport error, maybe executed") {
                try await expectMaybeExecuted("/drop", method: .post)
            },
            Check("a body that ends early is a transport error, maybe executed") {
                try await expectMaybeExecuted("/truncated", method: .get)
            },
            Check("nobody listening is a transport error, not sent") {
                let request = HttpRequest(method: .post, url: try unusedPort())
                let error = try await expectTransportError("a port where nobody listens") {
                    try await makeTransport().send(request, context: context())
                }
                try expect(error.delivery, is: .notSent, "the delivery")
            },
            Check("cancelling ends an exchange that would never end") {
                let transport = makeTransport()
                let (begun, begin) = AsyncStream.makeStream(of: Void.self)
                let task = Task {
                    begin.finish()
                    return try await send("/hang", through: transport)
                }
                for await _ in begun {}
                task.cancel()
                try await expectCancellation(of: task, "a cancelled exchange")
                try expect(try await send("/status/200", through: transport).status, is: 200, "the next status")
            },
            Check("a task that is already cancelled sends nothing") {
                let transport = makeTransport()
                let path = cachedPath()
                let before = try await count(of: path, through: transport)
                let task = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await send(path, through: transport)
                }
                try await expectCancellation(of: task, "an exchange of a cancelled task")
                try expect(try await count(of: path, through: transport), is: before + 1, "the server's count")
            },
        ]
    }

    private func expectMaybeExecuted(_ path: String, method: HttpMethod) async throws {
        let error = try await expectTransportError(path) { try await send(path, method: method) }
        try expect(error.delivery, is: .maybeExecuted, "the delivery of \(path)")
    }

    /// The origin's host at port 1, where no real server listens.
    private func unusedPort() throws -> URL {
        var components = URLComponents(url: origin, resolvingAgainstBaseURL: true)
        components?.port = 1
        guard let url = components?.url else { throw Failure(description: "The origin cannot be used.") }
        return url
    }
}

extension TransportError {
    /// The error's delivery: what the server may have done.
    var delivery: Delivery {
        switch self {
        case .failed(_, let delivery, _): delivery
        case .responseTooLarge: .maybeExecuted
        }
    }
}
