import Foundation
import Nautilus
import NautilusTesting

/// Makes one of three fixed calls, for `executed-files.py`, and fails unless it ends as expected.
///
/// It is also compiled against other commits, so it uses only what a first program would.
@main
struct Calls {
    static func main() async {
        Task {
            try await Task.sleep(for: .seconds(30))
            fail("The call has not ended after 30 s.")
        }
        do {
            switch CommandLine.arguments.dropFirst().first {
            case "retry": try await retry()
            case "refresh": try await refresh()
            case "signout": try await signOut()
            default: fail("usage: calls retry|refresh|signout", code: 2)
            }
        } catch {
            fail("The call failed: \(error)")
        }
    }

    /// The server answers 503 once, the call waits in its backoff, and its second attempt succeeds.
    private static func retry() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(.status(503), .status(200), clock: clock)
        let service = NotesService(retrierFactory: backoff(), transport: transport, clock: clock)
        async let response = GetNote().response(with: service)
        try await clock.waitForSleepers(count: 1)
        // No further: a delay that ends much too late is followed by another.
        clock.advance(by: clock.sleeps[0])
        let status = try await response.status
        expect(status == 200, "a 200, not a \(status)")
        expect(transport.count == 2, "two attempts, not \(transport.count)")
        expect(clock.sleeps.count == 1, "one delay, not \(clock.sleeps.count)")
    }

    /// The server rejects the token, the coordinator refreshes it, and the call is sent again with the new one.
    private static func refresh() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(.status(401), .status(200), clock: clock)
        let coordinator = RefreshCoordinator(credential: "old", clock: clock) { _ in "new" }
        let service = NotesService(retrierFactory: authorization(coordinator), transport: transport, clock: clock)
        let status = try await GetNote().response(with: service).status
        expect(status == 200, "a 200, not a \(status)")
        let tokens = transport.attempts.map { $0.request.header[.authorization] }
        expect(tokens == ["Bearer old", "Bearer new"], "the old token, then the new one, not \(tokens)")
    }

    /// The server answers 503, and the user signs out while the call waits in its backoff.
    private static func signOut() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(.status(503), clock: clock)
        let coordinator = RefreshCoordinator(credential: "old", clock: clock) { _ in "new" }
        let factory = AnyRetrierFactory.composed(authorization(coordinator), backoff(gate: coordinator))
        let service = NotesService(retrierFactory: factory, transport: transport, clock: clock)
        async let response = GetNote().response(with: service)
        try await clock.waitForSleepers(count: 1)
        coordinator.signOut()
        do {
            let status = try await response.status
            fail("The call ended with \(status), although its user has signed out.")
        } catch {
            guard case .signedOut? = (error as? HttpError)?.underlying as? RefreshError else {
                fail("Expected: the session's error, not \(error).")
            }
        }
        expect(clock.now.offset == .zero, "an end at once, not after \(clock.now)")
        expect(transport.count == 1, "one attempt, not \(transport.count)")
    }

    private static func backoff(gate: (any RetryGate)? = nil) -> any RetrierFactory {
        BackoffRetrier.factory(
            .standard.with {
                $0.gate = gate
                // The same delay in every run.
                $0.random = SeededRandomSource(seed: 1)
            }
        )
    }

    private static func authorization(_ coordinator: RefreshCoordinator<String>) -> any RetrierFactory {
        coordinator.authorization { token, request in request.header[.authorization] = "Bearer \(token)" }
    }

    /// The text is made only if it is printed, so that nothing is executed for it.
    private static func expect(_ isMet: Bool, _ expectation: @autoclosure () -> String) {
        if !isMet { fail("Expected: \(expectation()).") }
    }

    private static func fail(_ message: String, code: Int32 = 1) -> Never {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        exit(code)
    }
}

private struct NotesService: HttpService {
    let apiUrl: any UrlConvertible = "https://api.example.com"
    let retrierFactory: any RetrierFactory
    let transport: any HttpTransport
    let clock: any Clock<Duration>
}

private struct GetNote: Request {
    typealias Result = Data
    var route: HttpRoute { ["notes", 7] }
}
