import Foundation
import Nautilus
import NautilusCurl
import ScriptedSockets
import Testing

@Suite(
    "Proofs of a server's identity",
    .timeLimit(.minutes(10)),
    .whereAvailable,
    .enabled(if: UntrustedTlsServer.openssl != nil, "needs openssl")
)
struct TrustTests {
    /// Sends a POST to a server of these options, with a trust that its certificate decides on.
    private func exchange(
        _ options: String = "-www",
        _ trust: @Sendable (UntrustedTlsServer) -> CurlTransport.Trust
    ) async throws -> Result<Int, TransportError> {
        var result = Result<Int, TransportError>.success(0)
        try await UntrustedTlsServer.run(options) { server in
            let transport = CurlTransport(configuration: .init(trust: trust(server)))
            let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
            do {
                result = .success(try await send(.get, url, through: transport).status)
            } catch let error as TransportError {
                result = .failure(error)
            }
        }
        return result
    }

    private let refused = Result<Int, TransportError>.failure(
        TransportError(.serverCertificateUntrusted, delivery: .notSent)
    )

    @Test("the system's roots by default, own ones where they are given")
    func roots() async throws {
        #expect(try await exchange { _ in .init() } == refused)
        #expect(try await exchange { .init(roots: $0.certificate) } == .success(200))
    }

    @Test("a pinned key besides, one of several")
    func pins() async throws {
        let other = Data(repeating: 7, count: 32)
        let pinned = try await exchange { .init(roots: $0.certificate, pinnedKeys: [other, $0.publicKeyHash]) }
        #expect(pinned == .success(200))
        #expect(try await exchange { .init(roots: $0.certificate, pinnedKeys: [other]) } == refused)
        // A key alone is no certificate.
        #expect(try await exchange { .init(pinnedKeys: [$0.publicKeyHash]) } == refused)
    }

    @Test("a version of TLS that is new enough")
    func version() async throws {
        let old = try await exchange("-www -tls1_2") { .init(minimumVersion: .tls13, roots: $0.certificate) }
        #expect(old == .failure(TransportError(.secureConnectionFailed, delivery: .notSent)))
        let new = try await exchange("-www -tls1_3") { .init(minimumVersion: .tls13, roots: $0.certificate) }
        #expect(new == .success(200))
    }

    @Test("the server is shown the client's certificate")
    func identity() async throws {
        let options = "-www -Verify 1 -CAfile certificate.pem -verify_return_error"
        let shown = try await exchange(options) {
            .init(roots: $0.certificate, identity: .init(certificates: $0.certificate, key: $0.key))
        }
        #expect(shown == .success(200))
        let withheld = try await exchange(options) { .init(roots: $0.certificate) }
        guard case .failure = withheld else {
            Issue.record("\(withheld)")
            return
        }
    }

    @Test("a key or a certificate that cannot be read fails the exchange, not sent")
    func unreadable() async throws {
        let result = try await exchange {
            .init(roots: $0.certificate, identity: .init(certificates: Data("x".utf8), key: $0.key))
        }
        guard case .failure(.failed(_, .notSent, _)) = result else {
            Issue.record("\(result)")
            return
        }
    }

    @Test("nothing of a key or a password is ever described")
    func described() {
        let identity = CurlTransport.Trust.Identity(
            certificates: Data("hunter2".utf8),
            key: Data("hunter2".utf8),
            password: "hunter2"
        )
        let trust = CurlTransport.Trust(pinnedKeys: [Data("hunter2".utf8)], identity: identity)
        var dumped = ""
        dump(trust, to: &dumped)
        dump(identity, to: &dumped)
        #expect(!"\(trust) \(String(reflecting: trust)) \(identity) \(dumped)".contains("hunter2"))
    }
}
