import Foundation
import TestSupport
import Testing

@testable import Nautilus
@testable import NautilusHTTP

@Suite("RefreshCoordinator: events, observer and descriptions", .endsInTime)
struct RefreshEventsTests {
    /// Keeps what an observer is told.
    final class Record: CallObserver {
        private let entries = Locked<[String]>([])
        var all: [String] { entries.withLock { $0 } }

        func observe(_ event: CallEvent) {
            let entry =
                switch event {
                case .refreshStarted(let generation): "started \(generation)"
                case .refreshEnded(let generation): "ended \(generation.map { "\($0)" } ?? "in vain")"
                default: "unexpected"
                }
            entries.withLock { $0.append(entry) }
        }
    }

    let clock = TestClock()
    let script = RefreshScript()

    @Test("every subscriber gets every event, in order, from its subscription on")
    func subscribers() async throws {
        let coordinator = RefreshCoordinator(limits: .impatient, clock: clock, refresh: script.run)
        let first = coordinator.events
        coordinator.signIn("a")
        let second = coordinator.events
        let credential = try await coordinator.credential()
        let call = await startWaiting(1, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        await script.fail(with: Unreachable())
        _ = await call.outcomes
        clock.advance(by: .seconds(30))
        let retry = await startWaiting(1, on: coordinator) { try await coordinator.credential() }
        await script.succeed(with: "b")
        _ = await retry.outcomes
        coordinator.signOut()
        coordinator.signOut()
        coordinator.signIn("c")
        let expected = [
            "refreshFailed 1 failed(Unreachable)", "refreshed 2", "signedOut 2", "signedIn 3",
        ]
        #expect(await first.first(5) == ["signedIn 1"] + expected)
        #expect(await second.first(4) == expected)
    }

    @Test("a subscriber that has gone is forgotten")
    func unsubscribed() async {
        let broadcast = Broadcast<Int>(bufferLimit: 1)
        var stream: AsyncStream<Int>? = broadcast.stream()
        #expect(broadcast.streamCount == 1)
        _ = stream
        stream = nil
        #expect(broadcast.streamCount == 0)
    }

    @Test("a subscriber that does not read keeps the latest events only")
    func slowSubscriber() async {
        let broadcast = Broadcast<Int>(bufferLimit: 2)
        var iterator = broadcast.stream().makeAsyncIterator()
        for element in 1...5 { broadcast.send(element) }
        #expect(await iterator.next() == 4)
        #expect(await iterator.next() == 5)
    }

    @Test("the observer is told each refresh's start, and its end once")
    func observer() async throws {
        let record = Record()
        let script = RefreshScript(obeysCancellation: false)
        let coordinator = RefreshCoordinator(
            credential: "a",
            clock: clock,
            random: Draw(1),
            observer: record,
            refresh: script.run
        )
        let first = try await coordinator.credential()
        let call = await startWaiting(1, on: coordinator) { try await coordinator.refresh(rejecting: first) }
        await script.succeed(with: "b")
        _ = await call.outcomes
        let second = try await coordinator.credential()
        let dropped = await startWaiting(1, on: coordinator) { try await coordinator.refresh(rejecting: second) }
        coordinator.signOut()
        _ = await dropped.outcomes
        await script.succeed(with: "late")
        await eventually("both have ended") { record.all.count == 4 }
        #expect(record.all == ["started 1", "ended 2", "started 2", "ended in vain"])
    }

    @Test("an observer may use the coordinator, and hears of it after what it is being told")
    func reentrantObserver() async throws {
        final class SigningOut: CallObserver {
            let coordinator = Locked<RefreshCoordinator<String>?>(nil)
            let heard = Locked<[String]>([])
            func observe(_ event: CallEvent) {
                if case .refreshStarted = event { coordinator.withLock { $0 }?.signOut() }
                heard.withLock { $0.append("\(event)") }
            }
        }
        let observer = SigningOut()
        let coordinator = RefreshCoordinator(
            credential: "a",
            clock: clock,
            observer: observer,
            refresh: script.run
        )
        observer.coordinator.withLock { $0 = coordinator }
        let credential = try await coordinator.credential()
        #expect(await outcome { try await coordinator.refresh(rejecting: credential) } == "signedOut")
        await eventually("the refresh has ended") { observer.heard.withLock { $0.count } == 2 }
        #expect(coordinator.current == nil)
        observer.coordinator.withLock { $0 = nil }
    }

    @Test("messages are delivered by one at a time, for all")
    func outbox() {
        var outbox = Outbox<Int>()
        #expect(outbox.beginDelivery() == nil)
        outbox.add(1)
        #expect(outbox.beginDelivery() == [1])
        outbox.add(2)
        #expect(outbox.beginDelivery() == nil, "somebody delivers already")
        #expect(outbox.continueDelivery() == [2])
        #expect(outbox.continueDelivery() == nil)
        outbox.add(3)
        #expect(outbox.beginDelivery() == [3])
    }

    @Test("no description, debug description or dump shows a credential")
    func noSecrets() async throws {
        struct Leaky: Error { let token = "s3cret" }
        let coordinator = RefreshCoordinator(
            credential: "s3cret",
            limits: .impatient,
            clock: clock,
            refresh: script.run
        )
        let credential = try await coordinator.credential()
        #expect("\(coordinator)" == "generation 1")
        let call = await startWaiting(1, on: coordinator) { try await coordinator.refresh(rejecting: credential) }
        #expect("\(coordinator)" == "generation 1, refreshing")
        await script.fail(with: Leaky())
        _ = await call.outcomes
        #expect("\(coordinator)" == "generation 1, cooling down")
        var texts: [String] = []
        let changes: [SessionChange<String>] = [.refreshed("s3cret"), .signedIn("s3cret")]
        for value in [coordinator, credential, changes] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            texts += ["\(value)", String(reflecting: value), dumped]
        }
        let errors: [RefreshError] = [
            .failed(remaining: .zero, underlying: Leaky()), .sessionExpired(underlying: Leaky()),
            .coolingDown(remaining: .seconds(1), underlying: Leaky()),
        ]
        texts += errors.flatMap { ["\($0)", String(reflecting: $0)] }
        #expect(!texts.contains { $0.contains("s3cret") })
        coordinator.signOut()
        #expect("\(coordinator)" == "signed out")
    }

    @Test(
        "an error says what happened and what to do",
        arguments: [
            (
                RefreshError.signedOut,
                "Nobody is signed in, or the user has signed out meanwhile; call signIn(_:) first."
            ),
            (
                .sessionExpired(underlying: RefreshError.Terminal("invalid_grant")),
                "The session has expired (invalid_grant); ask the user to sign in again."
            ),
            (
                .failed(remaining: .milliseconds(700), underlying: Unreachable()),
                "The credential could not be refreshed (Unreachable); the next refresh may start in 700 ms."
            ),
            (
                .failed(remaining: .seconds(1), underlying: HttpError(.status(503), stage: .validate)),
                "The credential could not be refreshed (A request failed: status 503); the next refresh may start in 1 s."
            ),
            (
                .coolingDown(remaining: .seconds(2), underlying: Unreachable()),
                "The last refresh failed (Unreachable); the next may start in 2 s."
            ),
            (
                .timedOut(limit: .seconds(30), remaining: .seconds(29)),
                "The refresh took longer than 30 s; the next may start in 29 s."
            ),
            (
                .timedOut(limit: .seconds(30), remaining: nil),
                "Two refreshes have taken longer than 30 s, and have not ended although they were cancelled; "
                    + "check that the refresh responds to cancellation."
            ),
            (
                .tooManyRefreshes(limit: 5, window: .seconds(30), remaining: .seconds(7)),
                "5 refreshes have started within 30 s, as many as are allowed; the next may start in 7 s. "
                    + "Check that the server accepts what a refresh returns."
            ),
        ]
    )
    func descriptions(error: RefreshError, expected: String) {
        #expect("\(error)" == expected)
    }

    @Test("a refusal that did not end the session says how to end it")
    func refusal() {
        func refused(_ status: Int) -> HttpError {
            HttpError(.status(status), stage: .validate, response: HttpResponse(status: status, body: Data()))
        }
        #expect(
            RefreshError.failed(remaining: .seconds(1), underlying: refused(401)).description == """
                The credential could not be refreshed (A request failed: status 401); the next refresh may start in 1 s. \
                The server answered 401; throw RefreshError.Terminal if that ends the session.
                """
        )
        #expect(
            RefreshError.coolingDown(remaining: .seconds(2), underlying: refused(400)).description == """
                The last refresh failed (A request failed: status 400); the next may start in 2 s. The server answered 400; \
                throw RefreshError.Terminal if that ends the session.
                """
        )
    }
}
