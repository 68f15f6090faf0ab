import DemoServers
import Testing

@Suite("DeviceAuthority", .timeLimit(.minutes(10)))
final class DeviceAuthorityTests {
    private var authority = DeviceAuthority(environment: "staging")
    private let codes: DeviceAuthority.Codes

    init() {
        codes = authority.authorize(client: "app", scope: DemoScope("notes.read"), at: .zero)
    }

    private func poll(at now: Duration) -> DeviceAuthority.Verdict {
        authority.poll(codes.deviceCode, client: "app", at: now)
    }

    private func decide(_ decision: DeviceAuthority.Decision, _ userCode: String, at now: Duration) -> Bool {
        authority.decide(decision, userCode: userCode, at: now)
    }

    @Test("a user code is eight consonants with a hyphen, and each is another")
    func userCodes() {
        let userCodes = (0..<100).map { _ in authority.authorize(client: "app", scope: .all, at: .zero).userCode }
        #expect(Set(userCodes).count == 100)
        let isUserCode = { (code: String) in
            code.wholeMatch(of: /[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}/) != nil
        }
        #expect(userCodes.allSatisfy(isUserCode))
    }

    @Test("a device waits for its user, and its approval serves once")
    func approval() {
        #expect(poll(at: .zero) == .pending)
        #expect(decide(.approve, codes.userCode, at: .seconds(1)))
        // Sooner than the interval: only those that still wait are slowed down.
        #expect(poll(at: .seconds(1)) == .approved(DemoScope("notes.read")))
        #expect(poll(at: .seconds(9)) == .unknown)
        #expect(!decide(.approve, codes.userCode, at: .seconds(9)))
    }

    @Test("a poll before the interval is over slows the device down by 5 seconds, each time")
    func interval() {
        #expect(poll(at: .zero) == .pending)
        #expect(poll(at: .seconds(5)) == .pending)
        #expect(poll(at: .seconds(10) - .nanoseconds(1)) == .slowDown)
        // The interval, 10 s by now, counts from the poll that came too soon.
        #expect(poll(at: .seconds(20) - .nanoseconds(2)) == .slowDown)
        #expect(poll(at: .seconds(35) - .nanoseconds(2)) == .pending)
        #expect(poll(at: .seconds(50) - .nanoseconds(3)) == .slowDown)
    }

    @Test("a device waits for ten minutes, and not a nanosecond longer, approved or not", arguments: [false, true])
    func expiry(isApproved: Bool) {
        if isApproved { #expect(decide(.approve, codes.userCode, at: .zero)) }
        var copy = authority
        let last = copy.poll(codes.deviceCode, client: "app", at: .seconds(600) - .nanoseconds(1))
        #expect(last == (isApproved ? .approved(DemoScope("notes.read")) : .pending))
        #expect(poll(at: .seconds(600)) == .expired)
        #expect(!decide(.approve, codes.userCode, at: .seconds(600)))
    }

    @Test("a user who declined cannot approve any more, nor the other way round; the same again changes nothing")
    func decisions() {
        let other = authority.authorize(client: "app", scope: .all, at: .zero)
        #expect(decide(.deny, codes.userCode, at: .zero))
        #expect(!decide(.approve, codes.userCode, at: .zero))
        #expect(decide(.deny, codes.userCode, at: .zero))
        #expect(poll(at: .zero) == .denied)
        #expect(poll(at: .zero) == .denied)

        #expect(decide(.approve, other.userCode, at: .zero))
        #expect(!decide(.deny, other.userCode, at: .zero))
        #expect(decide(.approve, other.userCode, at: .zero))
        #expect(authority.poll(other.deviceCode, client: "app", at: .zero) == .approved(.all))
    }

    @Test("a user may type small letters, and spaces for hyphens")
    func typing() {
        let typed = " " + codes.userCode.lowercased().replacing("-", with: " ")
        #expect(decide(.approve, typed, at: .zero))
        #expect(poll(at: .zero) == .approved(DemoScope("notes.read")))
    }

    @Test("codes of nobody, and devices of another client, are unknown")
    func unknown() {
        #expect(!decide(.approve, "", at: .zero))
        #expect(authority.poll("garbage", client: "app", at: .zero) == .unknown)
        #expect(authority.poll(codes.deviceCode, client: "other", at: .zero) == .unknown)
        // The other client's poll did not count as one of the device's own.
        #expect(poll(at: .zero) == .pending)
    }

    @Test("a device is approved after as many pending answers as the rules say", arguments: [0, 1, 3])
    func automatic(polls: Int) {
        authority.rules.approvesAfterPolls = polls
        for number in 0..<polls {
            #expect(poll(at: .seconds(number * 20)) == .pending)
            // Too soon, and so no pending answer.
            #expect(poll(at: .seconds(number * 20 + 1)) == .slowDown)
        }
        #expect(poll(at: .seconds(polls * 20 + 100)) == .approved(DemoScope("notes.read")))
    }

    @Test("an interval of zero never slows down, and holds for devices that begin to wait after it was set")
    func noInterval() {
        authority.rules.interval = .zero
        let other = authority.authorize(client: "app", scope: .all, at: .zero)
        #expect(authority.poll(other.deviceCode, client: "app", at: .zero) == .pending)
        #expect(authority.poll(other.deviceCode, client: "app", at: .zero) == .pending)
        #expect(poll(at: .zero) == .pending)
        #expect(poll(at: .zero) == .slowDown)
    }
}
