import Foundation
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("Loopback origins")
struct HttpOriginLoopbackTests {
    private static func isLoopback(_ url: String) throws -> Bool {
        try #require(URL(string: url).flatMap(HttpOrigin.init)).isLoopback
    }

    @Test(
        "this machine is known by its own names",
        arguments: [
            "http://localhost", "http://LOCALHOST:8080", "http://127.0.0.1:49152", "http://127.0.0.0",
            "http://127.255.255.255", "http://[::1]:8080", "https://localhost",
        ]
    )
    func own(url: String) throws {
        #expect(try Self.isLoopback(url))
    }

    @Test(
        "a name that only looks like this machine's is not a loopback origin",
        arguments: [
            "http://localhost.example.com", "http://localhost.", "http://127.0.0.1.example.com", "http://127.0.0.256",
            "http://127.1", "http://127.0.0.01", "http://127.0.0", "http://127.0.0.1.", "http://128.0.0.1",
            "http://0.0.0.0", "http://[::]", "http://[::2]", "http://[::ffff:127.0.0.1]", "http://127.0.0.-1",
            "http://127.0.0.+1", "http://10.0.0.1", "http://api.localhost", "http://notlocalhost",
        ]
    )
    func others(url: String) throws {
        #expect(try !Self.isLoopback(url))
    }
}
