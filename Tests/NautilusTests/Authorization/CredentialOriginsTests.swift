import Nautilus
import NautilusTesting
import TestSupport
import Testing

@Suite("The origins of a credential")
struct CredentialOriginsTests {
    /// Calls services at `urls`, one after the other, which share a coordinator; what each call's end was, and what was sent.
    private func outcomes(
        of urls: [String],
        _ origins: CredentialOrigins = .first
    ) async throws -> (ends: [String], sent: [String], refreshes: Int) {
        let refreshes = Locked(0)
        let coordinator = RefreshCoordinator<String>(credential: "token", origins: origins) { token in
            refreshes.withLock { $0 += 1 }
            return token
        }
        let transport = ScriptedTransport(.reply(text: "ok"), afterLast: .repeat)
        var ends: [String] = []
        for url in urls {
            let service = AnyHttpService(
                apiUrl: url,
                retrierFactory: coordinator.authorization { $1.header[.authorization] = $0 },
                transport: transport
            )
            do throws(HttpError) {
                ends.append(try await Ping.get.schedule(with: service))
            } catch {
                #expect(error.kind == .authorization)
                switch error.underlying as? RefreshError {
                case .foreignOrigin(let origin, let own): ends.append("\(origin) is not \(own)")
                case .insecureOrigin(let origin): ends.append("\(origin) is not secure")
                default: ends.append("\(error)")
                }
            }
        }
        return (
            ends, transport.attempts.map { "\($0.request.url.path) \($0.header[.authorization] ?? "")" },
            refreshes.withLock { $0 }
        )
    }

    @Test("the first origin is learned, and no other one gets it")
    func learned() async throws {
        let urls = ["staging.example.com/v1", "production.example.com/v1", "staging.example.com/v2"]
        let (ends, sent, refreshes) = try await outcomes(of: urls)
        #expect(ends == ["ok", "https://production.example.com is not [https://staging.example.com]", "ok"])
        #expect(sent == ["/v1/things token", "/v2/things token"])
        #expect(refreshes == 0)
    }

    @Test("a credential goes to the origins that are named, and to no other")
    func named() async throws {
        let urls = ["files.example.com", "api.example.com", "evil.example.com"]
        let ends = try await outcomes(of: urls, .only("https://api.example.com/v1", "files.example.com")).ends
        #expect(ends.prefix(2) == ["ok", "ok"])
        #expect(ends.last == "https://evil.example.com is not [https://api.example.com, https://files.example.com]")
        #expect(try await outcomes(of: ["api.example.com"], .only("no url")).sent.isEmpty)
    }

    @Test("over plain http, a credential goes to this machine, and elsewhere only to named origins")
    func plainHttp() async throws {
        #expect(try await outcomes(of: ["http://api.example.com"]).ends == ["http://api.example.com is not secure"])
        #expect(try await outcomes(of: ["http://127.0.0.1:8080"]).ends == ["ok"])
        #expect(try await outcomes(of: ["http://10.0.2.2:8080"], .only("http://10.0.2.2:8080")).ends == ["ok"])
        // A refusal teaches nothing.
        #expect(try await outcomes(of: ["http://api.example.com", "https://api.example.com"]).ends.last == "ok")
    }
}
