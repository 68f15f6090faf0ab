import NautilusTesting
import Testing

@testable import Nautilus
@testable import NautilusEnvironments
@testable import NautilusHTTP

@Suite("Refreshes through a service with a selection")
struct RefreshWarningTests {
    @Test("a refresh through a service with a selection is warned of once, and no other call is")
    func once() {
        let lines = Locked<[String]>([])
        let warnings = TypeWarnings { line in lines.withLock { $0.append(line) } }
        let service = ServiceSwitch<String, AnyHttpService<HttpError>>.self
        warnings.check(service, isPartOfRefresh: false)
        #expect(lines.withLock { $0 } == [])
        for _ in 1...2 { warnings.check(service, isPartOfRefresh: true) }
        #expect(lines.withLock { $0.count } == 1)
        #expect(lines.withLock { $0.first?.hasPrefix("a refresh goes through ServiceSwitch<") } == true)
    }

    #if DEBUG
        @Test("a call that is part of a refresh is known as one by a service with a selection")
        func calls() async throws {
            let transport = ScriptedTransport(.status(204))
            let sites = ServiceSwitch("a") { AnyHttpService(apiUrl: "\($0).example.com", transport: transport) }
            let coordinator = RefreshCoordinator(credential: "old") { _ in
                try await AnyRequest(.post, ["renewal"]).schedule(with: sites)
                return "new"
            }
            _ = try await coordinator.refresh(rejecting: coordinator.credential())
            #expect(TypeWarnings.refreshes.hasSeen(type(of: sites)))
        }
    #endif
}
