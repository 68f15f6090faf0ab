import Testing

@testable import Nautilus

@Suite("The device's own addresses")
struct LoopbackTests {
    @Test(
        "only addresses of the device itself count as such",
        arguments: [
            ("http://localhost", true), ("http://api.localhost", true), ("http://127.255.0.1", true),
            ("http://[::1]:80", true), ("http://127.0.0.1.example.com", false), ("http://128.0.0.1", false),
            ("http://notlocalhost", false), ("http://localhost.example.com", false), ("http://127.0.0.256", false),
        ]
    )
    func loopbackOrigins(url: String, isLoopback: Bool) throws {
        #expect(try testOrigin(url).isLoopback == isLoopback)
    }
}
