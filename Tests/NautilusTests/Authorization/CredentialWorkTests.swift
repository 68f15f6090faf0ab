import Foundation
import NautilusTesting
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("RefreshCoordinator: a refresh that asks its own coordinator", .endsInTime)
struct CredentialWorkTests {
    /// A coordinator that its own refresh can reach.
    final class Loop: Sendable {
        let coordinator = Locked<RefreshCoordinator<String>?>(nil)
        let found = Locked<[String]>([])

        func get() throws -> RefreshCoordinator<String> {
            guard let coordinator = coordinator.withLock({ $0 }) else { throw Unreachable() }
            return coordinator
        }
    }

    let clock = TestClock()

    @Test("B10: credential and refresh fail at once, the gate lets it pass, and current still answers")
    func everyEntry() async throws {
        let loop = Loop()
        let origin = try testOrigin()
        let coordinator = RefreshCoordinator(credential: "a", clock: clock) { _ in
            let coordinator = try loop.get()
            guard let credential = coordinator.current else { throw Unreachable() }
            var found = ["current \(credential.generation)"]
            found.append(await outcome { try await coordinator.credential() })
            found.append(await outcome { try await coordinator.refresh(rejecting: credential) })
            found.append(await Task { await outcome { try await coordinator.credential() } }.value)
            try await coordinator.pass(to: origin)
            loop.found.withLock { [found] in $0 = found }
            return "b"
        }
        loop.coordinator.withLock { $0 = coordinator }
        let credential = try await coordinator.credential()
        #expect(try await coordinator.refresh(rejecting: credential).generation == 2)
        #expect(loop.found.withLock { $0 } == ["current 1", "recursive", "recursive", "recursive"])
        loop.coordinator.withLock { $0 = nil }
    }

    /// The ways in which a refresh wraps an error, by name.
    static let wrappings: [String: @Sendable (any Error) -> any Error] = [
        "as it is": { $0 },
        "a call's error": { HttpError(.authorization, stage: .prepare, underlying: $0) },
        "a call's within a call's": {
            HttpError(.custom, stage: .prepare, underlying: HttpError(.authorization, stage: .prepare, underlying: $0))
        },
        "a refresh's": { RefreshError.failed(remaining: .seconds(1), underlying: $0) },
    ]

    @Test(
        "B10: the calls that wait for such a refresh fail with its error, however that is wrapped; so do later ones",
        arguments: wrappings.keys.sorted()
    )
    func waitersFail(wrapping: String) async throws {
        let loop = Loop()
        let wrap = try #require(Self.wrappings[wrapping])
        let coordinator = RefreshCoordinator(credential: "a", clock: clock) { _ in
            do {
                return try await loop.get().credential().credential
            } catch {
                throw wrap(error)
            }
        }
        loop.coordinator.withLock { $0 = coordinator }
        let credential = try await coordinator.credential()
        #expect(await outcome { try await coordinator.refresh(rejecting: credential) } == "recursive")
        #expect(await outcome { try await coordinator.refresh(rejecting: credential) } == "recursive")
        loop.coordinator.withLock { $0 = nil }
    }

    @Test(
        "a refresh that has asked itself, and then fails for a reason of its own, is told with that",
        arguments: [HttpError(.status(500), stage: .validate), URLError(.timedOut), CancellationError()] as [any Error]
    )
    func anotherReason(reason: any Error) async throws {
        let loop = Loop()
        let limits = RefreshLimits(maxCoolDowns: 0)
        let coordinator = RefreshCoordinator(credential: "a", limits: limits, clock: clock) { _ in
            _ = try? await loop.get().credential()
            throw reason
        }
        loop.coordinator.withLock { $0 = coordinator }
        let credential = try await coordinator.credential()
        #expect(await outcome { try await coordinator.refresh(rejecting: credential) } == "failed(\(type(of: reason)))")
        loop.coordinator.withLock { $0 = nil }
    }

    @Test("a refresh may use another coordinator's service, whose refresh may in turn not come back to it")
    func chain() async throws {
        let loop = Loop()
        let inner = RefreshCoordinator(credential: "inner", clock: clock) { _ in
            let found = await outcome { try await loop.get().credential() }
            loop.found.withLock { $0.append(found) }
            return "inner 2"
        }
        let outer = RefreshCoordinator(credential: "outer", clock: clock) { _ in
            let credential = try await inner.credential()
            return try await inner.refresh(rejecting: credential).credential
        }
        loop.coordinator.withLock { $0 = outer }
        let credential = try await outer.credential()
        #expect(try await outer.refresh(rejecting: credential).credential == "inner 2")
        #expect(loop.found.withLock { $0 } == ["recursive"])
        loop.coordinator.withLock { $0 = nil }
    }

    @Test("a task that a refresh has left behind asks like any other once the refresh has ended")
    func leftBehind() async throws {
        let loop = Loop()
        let (stream, gate) = AsyncStream<Void>.makeStream()
        let left = Locked<Task<String, Never>?>(nil)
        let coordinator = RefreshCoordinator(credential: "a", clock: clock) { _ in
            let task = Task {
                for await _ in stream {}
                return await outcome { try await loop.get().credential() }
            }
            left.withLock { $0 = task }
            return "b"
        }
        loop.coordinator.withLock { $0 = coordinator }
        let credential = try await coordinator.credential()
        _ = try await coordinator.refresh(rejecting: credential)
        gate.finish()
        #expect(await left.withLock { $0 }?.value == "generation 2")
        loop.coordinator.withLock { $0 = nil }
    }

    @Test("whether an answer is of use does not concern a task that the work has left behind")
    func isWanted() async throws {
        let (stream, gate) = AsyncStream<Void>.makeStream()
        let left = await CredentialWork.run(isWanted: { false }) {
            #expect(!CredentialWork.isWanted)
            return Task {
                for await _ in stream {}
                return CredentialWork.isWanted
            }
        }
        gate.finish()
        #expect(await left.value)
    }

    @Test(
        "a call for a credential that nobody wants any more ends with its failure, and waits for no delay before that"
    )
    func unwantedCall() async throws {
        try await simulate { simulation in
            let isWanted = Locked(true)
            let transport = ScriptedTransport(clock: simulation.clock) { _, _ in
                isWanted.withLock { $0 = false }
                return .status(503)
            }
            let service = AnyHttpService<HttpError>(
                apiUrl: "api.example.com",
                retrierFactory: ScriptedRetrier.factory { _, _ in .retry(after: .seconds(10)) },
                transport: transport,
                clock: simulation.clock
            )
            let error = await CredentialWork.run(isWanted: { isWanted.withLock { $0 } }) {
                await Ping.get.result(with: service).error
            }
            #expect(error?.kind == .status(503))
            #expect(error?.trace.attempts.last?.decision?.reason == .custom("the user has signed out"))
            #expect((transport.count, simulation.clock.now.offset) == (1, .zero))
        }
    }

    @Test("a task that a refresh has left behind is part of no refresh once that has ended")
    func isActive() async throws {
        let (stream, gate) = AsyncStream<Void>.makeStream()
        let left = Locked<Task<Bool, Never>?>(nil)
        let within = Locked<Bool?>(nil)
        let coordinator = RefreshCoordinator(credential: "a", clock: clock) { _ in
            within.withLock { $0 = CredentialWork.isRefresh }
            let task = Task {
                for await _ in stream {}
                return CredentialWork.isRefresh
            }
            left.withLock { $0 = task }
            return "b"
        }
        let credential = try await coordinator.credential()
        _ = try await coordinator.refresh(rejecting: credential)
        gate.finish()
        #expect(within.withLock { $0 } == true)
        #expect(await left.withLock { $0 }?.value == false)
    }

    @Test("a task that a refresh leaves behind no longer counts as part of the refresh")
    func leftBehindByWork() async {
        let (stream, end) = AsyncStream.makeStream(of: Void.self)
        let (isPart, isNested, task) = await CredentialWork.run {
            await CredentialWork.run {}
            let task = Task {
                await CredentialWork.run {}
                for await _ in stream {}
                return CredentialWork.isActive
            }
            return (CredentialWork.isActive, await CredentialWork.run { CredentialWork.isActive }, task)
        }
        end.finish()
        #expect(isPart && isNested)
        #expect(await task.value == false)
    }
}
