import Foundation
import Testing

@testable import NautilusHTTP
@testable import NautilusURLSession

@Suite("Pinned keys in certificates")
struct PinnedKeysTests {
    /// Certificates in DER, and the hash of their keys as `openssl` tells it: of an elliptic curve, as version 3 and as
    /// version 1, which is not written in it; and of RSA, whose lengths take more than a byte.
    private static let certificates: [(der: String, hash: String)] = [
        (
            "MIIBbTCCAROgAwIBAgIUIchHUrFsPm79aVQFEUFta6gsWDEwCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBYTAeFw0yNjExMjMw"
                + "MTMxMzVaFw0zNjExMjAwMTMxMzVaMAwxCjAIBgNVBAMMAWEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAS4czIFgCZFhtt9"
                + "wrb6XMViyRXbuqgQRB1Cygxs1LyLGWPVCGkBTlfXyqbAIEhL8c0njiNQuwAp+z7WONYeiHg5o1MwUTAdBgNVHQ4EFgQU3qKl"
                + "G8p5YYiaeGHHpd/6FbRqkyEwHwYDVR0jBBgwFoAU3qKlG8p5YYiaeGHHpd/6FbRqkyEwDwYDVR0TAQH/BAUwAwEB/zAKBggq"
                + "hkjOPQQDAgNIADBFAiBs2rpeEH2KPSdZ8etkvd+h/vckJrt7QRtcTZK3Q8QAOgIhAMdriAf7A5fBiRFwYBLhuv8eilAkxEbw"
                + "uOCbRDn9H+C0", "rbthYWau1nhfQkp9Wf5MjeZ+7w325/1z00mzHNU3yZ4="
        ),
        (
            "MIIBEzCBuQIUP7uYLPcw/d5cPRz/6/Lki8bCRAQwCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBYjAeFw0yNjExMjMwMTMxMzVa"
                + "Fw0zNjExMjAwMTMxMzVaMAwxCjAIBgNVBAMMAWIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAS4czIFgCZFhtt9wrb6XMVi"
                + "yRXbuqgQRB1Cygxs1LyLGWPVCGkBTlfXyqbAIEhL8c0njiNQuwAp+z7WONYeiHg5MAoGCCqGSM49BAMCA0kAMEYCIQDBoru2"
                + "n3j4qFOe0mezEJlFtLwjNHu14C/rRSKxlCoDbgIhAIHs0ppIm1AUODjs35B31af/0fDSi8DoPIRn43KzDd2j",
            "rbthYWau1nhfQkp9Wf5MjeZ+7w325/1z00mzHNU3yZ4="
        ),
        (
            "MIIC+TCCAeGgAwIBAgIUVvRxN5RY/UdLtQLgm8NIiXJlDAowDQYJKoZIhvcNAQELBQAwDDEKMAgGA1UEAwwBYTAeFw0yNjEx"
                + "MjMwMTMyMThaFw0zNjExMjAwMTMyMThaMAwxCjAIBgNVBAMMAWEwggEiMA0GCSqGSIb3DQEBAQUAA4IBDwAwggEKAoIBAQDD"
                + "6esrdgyk+To2ALcnM7uedh/6hieAdqJuspOn1xFNxMihDD6d2n09D4QNskmWqb+mHFl42dx/j2OU76w3WuyWRJdDfGH8DC5j"
                + "OjAy0M/IHTySQlQeHDvBTXztkUuc6dB9SrhM/lcLrvBWRrooOclDdYRNcBoMjzg7kv1cbjyTSOp98tHJIiO5uqCdwlp/7XGU"
                + "luXAnJ3YoO1/yjSg2YENZEMTmK6Q3CNIArSQtKZTfUarurdmwuIYsR/3ytTkVtFED6qb74ddiJWyPlvhvZaxdXpRCEfF0kSl"
                + "lElpj7ktsd+9gRe2j5ig3eNviwbVH3nm9Wukvr8FAQgGXymnzHr/AgMBAAGjUzBRMB0GA1UdDgQWBBTR1I0+hUQWOH8+0IdD"
                + "Idon/Bm48TAfBgNVHSMEGDAWgBTR1I0+hUQWOH8+0IdDIdon/Bm48TAPBgNVHRMBAf8EBTADAQH/MA0GCSqGSIb3DQEBCwUA"
                + "A4IBAQB46i3XFBq6u92NpWhiNS+fIiK6T17jfiHmO7p6jCsYczAjnKqq4YHT/LHXCffQOMTZfyDxpdkPexc8hgj7NrX/ywlN"
                + "/FTKxVSWp0e8OJuGRf+Biql+rRLW949NATX2Sx3Ffwa/PIjsxkaHBsvW9o+ndXXpTeH5hh5FxFgkP4IQuQ8LmujCViDogzKV"
                + "E0F8o9vsHdezIPYIXY/Q6h2cgNpxaoYbvyfCuviQRUQ7RLGlEpeqkUnusAShVCggKrsHRwKab/HuZoLrThrEgK2EdP2lfxPK"
                + "NJxFP5CjhZbicjMS5Z+toPLReELj57mvszxZQy283yvDpNKO+CqRkC0bhCYE",
            "2l5xk6SVPLAZLKBJatJxAWijaxCU5sODsr+tQzC+pWQ="
        ),
    ]

    @Test("a pinned key is found in a certificate by its hash, as one of several", arguments: certificates)
    func found(der: String, hash: String) throws {
        let (certificate, key) = (try #require(Data(base64Encoded: der)), try #require(Data(base64Encoded: hash)))
        let other = Data(repeating: 7, count: 32)
        #expect(PinnedKeys(hashes: [other, key]).contain(keyOf: certificate))
        #expect(!PinnedKeys(hashes: [other]).contain(keyOf: certificate))
        // Where it lies in other bytes, indices do not begin at zero.
        #expect(PinnedKeys(hashes: [key]).contain(keyOf: (Data([0, 0]) + certificate).dropFirst(2)))
    }

    @Test("no pinned key is found in a certificate that breaks off or is none", arguments: certificates)
    func broken(der: String, hash: String) throws {
        let (certificate, key) = (try #require(Data(base64Encoded: der)), try #require(Data(base64Encoded: hash)))
        for count in 0..<certificate.count {
            #expect(!PinnedKeys(hashes: [key]).contain(keyOf: certificate.prefix(count)))
        }
        for byte: UInt8 in [0x00, 0x30, 0x80, 0xFF] {
            #expect(!PinnedKeys(hashes: [key]).contain(keyOf: Data(repeating: byte, count: 600)))
        }
    }

    #if os(Linux)
        @Test("URLSession on Linux, which cannot see certificates, sends nothing with pins")
        func unavailable() async throws {
            let transport = URLSessionTransport(configuration: .init(pinnedKeys: [Data(count: 32)]))
            let request = HttpRequest(method: .get, url: try #require(URL(string: "https://127.0.0.1:1")))
            let error = await #expect(throws: TransportError.self) {
                try await transport.send(request, context: TransportContext())
            }
            guard case .failed(.serverCertificateUntrusted, .notSent, _) = error else {
                return #expect(Bool(false), "\(String(describing: error))")
            }
        }
    #endif
}
