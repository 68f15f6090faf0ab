import Foundation
import Nautilus
import ScriptedSockets
import Testing

@Suite("Responses on the wire", .timeLimit(.minutes(10)))
struct ResponseTests {
    @Test(
        "a redirect comes back as it is, wherever it leads",
        arguments: [301, 302, 303, 305, 307, 308],
        ["/next", "https://elsewhere.invalid/", "//elsewhere.invalid/", "mailto:a@b", "/caf%C3%A9?q=[]{}#x", "?q", ":"]
    )
    func redirect(status: Int, location: String) async throws {
        let response = try await answer("HTTP/1.1 \(status) X\r\nLocation: \(location)\r\nContent-Length: 2\r\n\r\nhi")
        #expect(response.status == status)
        #expect(response.header[.location] == location)
        #expect(response.text == "hi")
    }

    @Test("a redirect leaves the machine's other ports alone: nothing is sent there")
    func redirectNotFollowed() async throws {
        try await ScriptedServer.run { connection in
            _ = try await connection.readRequest()
            try await connection.respond()
        } whileOpen: { other in
            let location = "http://127.0.0.1:\(other.port)/"
            try await ScriptedServer.run { connection in
                _ = try await connection.readRequest()
                try await connection.respond("307 Temporary Redirect", ["Location: \(location)"])
            } whileOpen: { server in
                let header: HttpHeader = ["Authorization": "Bearer t", "Cookie": "a=1", "X-Api-Key": "k"]
                let response = try await send(.post, server.url, header: header, body: .data(Data("x".utf8)))
                #expect(response.status == 307)
            }
            #expect(await other.connectionCount == 0)
        }
    }

    @Test(
        "a redirect without a usable Location keeps its status and header",
        arguments: ["", "Location: http://[\r\n"]
    )
    func redirectToNowhere(line: String) async throws {
        let response = try await answer("HTTP/1.1 302 Found\r\n\(line)X-Kept: yes\r\nContent-Length: 0\r\n\r\n")
        #expect(response.status == 302)
        #expect(response.header["X-Kept"] == "yes")
    }

    @Test(
        "a 401 comes back whatever it asks for",
        arguments: [
            "Basic realm=\"r\"", "basic realm=r", "Basic", "Basic realm=", "Bearer realm=\"r\", Basic realm=\"r\"",
            "Basic realm=\"a, b\", Bearer error=\"invalid_token\"", "Bearer error=\"invalid_token\"",
            "Digest realm=\"r\", nonce=\"n\"", "Negotiate", "NTLM", "", "\"", "=,=",
        ]
    )
    func unauthorized(challenge: String) async throws {
        let head = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: \(challenge)\r\nX-Kept: yes\r\n"
        let response = try await answer(head + "Content-Length: 6\r\n\r\ndenied")
        #expect(response.status == 401)
        #expect(response.header[.wwwAuthenticate] == challenge)
        #expect(response.header["X-Kept"] == "yes")
        #expect(response.text == "denied")
    }

    @Test("two WWW-Authenticate lines are joined as a list")
    func challenges() async throws {
        let lines = "WWW-Authenticate: Bearer realm=\"a\"\r\nWWW-Authenticate: Basic realm=\"b\"\r\n"
        let response = try await answer("HTTP/1.1 401 Unauthorized\r\n\(lines)Content-Length: 0\r\n\r\n")
        let values = response.header[.wwwAuthenticate]?.split(separator: ",").map { $0.drop { $0 == " " } }
        #expect(values == ["Bearer realm=\"a\"", "Basic realm=\"b\""])
    }

    @Test("names that differ in case are one name, and the order is the same every time")
    func headerNames() async throws {
        let lines = ["X-Dup: 1", "x-dup: 2", "b: x", "A: x", "C: x"].joined(separator: "\r\n")
        let first = try await answer("HTTP/1.1 200 OK\r\n\(lines)\r\nContent-Length: 0\r\n\r\n")
        #expect(Set(first.header.values(of: "X-DUP")) == ["1", "2"])
        let second = try await answer("HTTP/1.1 200 OK\r\n\(lines)\r\nContent-Length: 0\r\n\r\n")
        #expect(first.header.fields == second.header.fields)
    }

    @Test("interim responses are passed over", arguments: ["100 Continue", "102 Processing", "103 Early Hints"])
    func interim(status: String) async throws {
        let interim = "HTTP/1.1 \(status)\r\nX-Interim: yes\r\n\r\n"
        let response = try await answer(
            interim + interim + "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nhi",
            .post
        )
        #expect(response.status == 201)
        #expect(response.header["X-Interim"] == nil)
        #expect(response.text == "hi")
    }

    @Test("a body that ends with the connection, and one in chunks, arrive whole")
    func framing() async throws {
        #expect(try await answer("HTTP/1.1 200 OK\r\n\r\nuntil the end").text == "until the end")
        let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"
        #expect(try await answer(chunks).text == "abcde")
    }

    @Test("a Content-Length without a body is no body", arguments: ["204 No Content", "304 Not Modified"])
    func noBody(status: String) async throws {
        let response = try await answer("HTTP/1.1 \(status)\r\nContent-Length: 100000000000\r\n\r\n")
        #expect(response.body.isEmpty)
    }
}
