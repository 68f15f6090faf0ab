import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

@testable import NautilusSessions

@Suite("The events about the store")
struct StoreEventOrderTests {
    @Test("events about the store come in the order in which it has failed and worked")
    func order() throws {
        let (events, found) = (Locked<[String]>([]), Locked<SharedCredential<BearerToken>?>(nil))
        let (hasBegun, hasEnded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let shared = SharedCredential(
            store: SharedStore<BearerToken>(
                store: MemoryStore(),
                key: CredentialKey(issuer: "api.test"),
                clock: ManualClock(),
                random: SeededRandomSource(seed: 0),
                sharing: CredentialSharing()
            ),
            rules: .bearer { _ in throw CancellationError() },
            timeLimit: .seconds(90),
            report: { event in
                if case .storeFailed = event {
                    // Another thread finds at this very moment that the store works.
                    Thread.detachNewThread {
                        hasBegun.signal()
                        found.withLock { $0 }?.storeWorked()
                        for _ in 1...2 { hasEnded.signal() }
                    }
                    hasBegun.wait()
                    // It has to wait for its turn; a few milliseconds are enough for one that does not.
                    _ = hasEnded.wait(timeout: .now() + .milliseconds(20))
                    events.withLock { $0.append("failed") }
                } else {
                    events.withLock { $0.append("recovered") }
                }
            },
            reportEnd: { _ in }
        )
        found.withLock { $0 = shared }
        // A caller that has left says nothing about the store.
        shared.storeFailed(SessionError(.cancelled))
        #expect(events.withLock { $0 } == [])
        shared.storeFailed(SessionError(.store(.full(place: "disk"))))
        #expect(hasEnded.wait(timeout: .now() + .seconds(10)) == .success)
        #expect(events.withLock { $0 } == ["failed", "recovered"])
        found.withLock { $0 = nil }
    }
}
