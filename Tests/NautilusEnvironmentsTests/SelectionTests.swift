import Foundation
import Observation
import Testing

@testable import Nautilus
@testable import NautilusEnvironments
@testable import NautilusHTTP

@Suite("The selection of a switch of services")
struct SelectionTests {
    private enum Site: String, Sendable { case staging, production }

    @Test("the selection of a service switch is remembered from one launch to the next")
    func remembered() {
        let memory = SelectionMemory.inMemory()
        let first = ServiceSwitch(Site.production, remembering: memory) { _ in Self.service }
        #expect(first.selected == .production)
        #expect(memory.load() == nil)
        first.select(.staging)
        #expect(memory.load() == "staging")
        #expect(ServiceSwitch(Site.production, remembering: memory) { _ in Self.service }.selected == .staging)
        let next = ServiceSwitch(Site.production, remembering: .inMemory("staging")) { _ in Self.service }
        #expect(next.selected == .staging)
    }

    @Test("the given selection counts where the remembered one has gone with an update, or none is remembered")
    func unknown() {
        let memory = SelectionMemory {
            "beta"
        } save: { _ in
        }
        #expect(ServiceSwitch(Site.production, remembering: memory) { _ in Self.service }.selected == .production)
        #expect(ServiceSwitch(Site.production) { _ in Self.service }.selected == .production)
    }

    @Test("the selection of a service switch is kept in the user's defaults, in those of a suite too")
    func defaults() throws {
        let suite = "nautilus-tests-\(UUID())"
        let memory = SelectionMemory.userDefaults("environment", suite: suite)
        defer { UserDefaults.standard.removePersistentDomain(forName: suite) }
        #expect(memory.load() == nil)
        memory.save("staging")
        #expect(memory.load() == "staging")
        #expect(SelectionMemory.userDefaults("another", suite: suite).load() == nil)
        #if !canImport(Darwin)
            // On disk at once: there, they are not written when the process ends.
            let folder = ProcessInfo.processInfo.environment["XDG_CONFIG_HOME"] ?? NSHomeDirectory() + "/.config"
            let file = "\(folder)/\(suite).plist"
            #expect(FileManager.default.fileExists(atPath: file))
            try FileManager.default.removeItem(atPath: file)
        #endif
    }

    @Test("selections are streamed: the present one, then each change, the latest alone to a slow reader")
    func stream() async {
        let sites = ServiceSwitch(Site.production) { _ in Self.service }
        var quick = sites.selections.makeAsyncIterator()
        var slow = sites.selections.makeAsyncIterator()
        #expect(await quick.next() == .production)
        sites.select(.production)
        sites.select(.staging)
        #expect(await quick.next() == .staging)
        sites.select(.production)
        #expect(await quick.next() == .production)
        #expect(await slow.next() == .production)
    }

    @Test("the selection is observed by code that reads it, or reads the service")
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func observed() {
        let sites = ServiceSwitch(Site.production) { _ in Self.service }
        let changes = Locked(0)
        withObservationTracking {
            _ = sites.selected
        } onChange: {
            changes.withLock { $0 += 1 }
        }
        withObservationTracking {
            _ = sites.service
        } onChange: {
            changes.withLock { $0 += 1 }
        }
        sites.select(.production)
        #expect(changes.withLock { $0 } == 0)
        sites.select(.staging)
        #expect(changes.withLock { $0 } == 2)
    }

    @Test("an observer of the selection may change it: the last remembered one is the selected one")
    func nested() async {
        let remembered = Locked<[String]>([])
        let sites = Locked<ServiceSwitch<Site, AnyHttpService<HttpError>>?>(nil)
        let memory = SelectionMemory {
            nil
        } save: { name in
            remembered.withLock { $0.append(name) }
            if name == "staging" { sites.withLock { $0 }?.select(.production) }
        }
        let created = ServiceSwitch(Site.production, remembering: memory) { _ in Self.service }
        sites.withLock { $0 = created }
        created.select(.staging)
        #expect(remembered.withLock { $0 } == ["staging", "production"])
        #expect(created.selected == .production)
        var told = created.selections.makeAsyncIterator()
        #expect(await told.next() == .production)
        sites.withLock { $0 = nil }
    }

    @Test("of a thousand competing selections, the one that is remembered and told last counts")
    func contended() async {
        let remembered = Locked("")
        let memory = SelectionMemory {
            nil
        } save: { name in
            remembered.withLock { $0 = name }
        }
        let sites = ServiceSwitch(Site.production, remembering: memory) { _ in Self.service }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1001 {
                group.addTask { sites.select(number.isMultiple(of: 2) ? .staging : .production) }
            }
        }
        var told = sites.selections.makeAsyncIterator()
        #expect(await told.next() == sites.selected)
        #expect(remembered.withLock { $0 } == sites.selected.rawValue)
    }

    private static let service = AnyHttpService(apiUrl: "api.example.com")
}
