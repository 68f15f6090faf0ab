/// Lets devices without a browser wait until their user has decided elsewhere (RFC 8628).
package struct DeviceAuthority: Sendable {
    /// The codes that a device gets to wait with.
    package struct Codes: Sendable {
        package let deviceCode: String
        package let userCode: String
        package let lifetime: Duration
        package let interval: Duration
    }

    package enum Decision: Sendable {
        case approve, deny
    }

    /// The answer to a poll.
    package enum Verdict: Hashable, Sendable {
        case approved(DemoScope)
        case pending
        /// Asked again too soon; the interval has grown.
        case slowDown
        case denied
        case expired
        /// Never issued to this client, or redeemed before.
        case unknown
    }

    private enum State {
        case waiting, approved, denied, redeemed
    }

    private struct Record {
        let client: String
        let scope: DemoScope
        let expiry: Duration
        var interval: Duration
        var state = State.waiting
        var lastPoll: Duration?
        var pendingAnswers = 0
    }

    /// RFC 8628 §3.5: by how much each `slow_down` lengthens the interval.
    package static let slowDownStep = Duration.seconds(5)

    package var rules: DemoDeviceRules
    private let environment: String
    private var generator: SeededGenerator
    private var records: [String: Record] = [:]
    /// From user codes, as ``normalized(_:)`` has them, to device codes.
    private var deviceCodes: [String: String] = [:]

    package init(environment: String, rules: DemoDeviceRules = DemoDeviceRules(), seed: UInt64 = 0) {
        self.environment = environment
        self.rules = rules
        self.generator = SeededGenerator(seed: seed, stream: 0x6465_7669_6365)
    }

    /// Lets a device wait for its user.
    package mutating func authorize(client: String, scope: DemoScope, at now: Duration) -> Codes {
        let deviceCode = "\(environment).device.\(records.count + 1).\(String(generator.next(), radix: 16))"
        let userCode = drawUserCode()
        let expiry = now + rules.lifetime
        records[deviceCode] = Record(client: client, scope: scope, expiry: expiry, interval: rules.interval)
        deviceCodes[Self.normalized(userCode)] = deviceCode
        return Codes(deviceCode: deviceCode, userCode: userCode, lifetime: rules.lifetime, interval: rules.interval)
    }

    /// Notes what a user decided.
    ///
    /// - Returns: False when no device waits for this code.
    package mutating func decide(_ decision: Decision, userCode: String, at now: Duration) -> Bool {
        guard let deviceCode = deviceCodes[Self.normalized(userCode)] else { return false }
        guard let record = records[deviceCode], now < record.expiry else { return false }
        switch (record.state, decision) {
        // The second is a page that was loaded again.
        case (.waiting, .approve), (.approved, .approve): records[deviceCode]?.state = .approved
        case (.waiting, .deny), (.denied, .deny): records[deviceCode]?.state = .denied
        default: return false
        }
        return true
    }

    /// Answers a device that asks whether its user has decided. An approved code serves once.
    package mutating func poll(_ deviceCode: String, client: String, at now: Duration) -> Verdict {
        guard var record = records[deviceCode], record.client == client else { return .unknown }
        let verdict = Self.judge(&record, approvesAfterPolls: rules.approvesAfterPolls, at: now)
        records[deviceCode] = record
        return verdict
    }

    private static func judge(_ record: inout Record, approvesAfterPolls: Int?, at now: Duration) -> Verdict {
        if record.state == .redeemed { return .unknown }
        guard now < record.expiry else { return .expired }
        if record.state == .denied { return .denied }
        // A decision is not held back: RFC 8628 §3.5 slows down only those that still wait.
        if record.state == .approved { return redeem(&record) }
        defer { record.lastPoll = now }
        if let lastPoll = record.lastPoll, now - lastPoll < record.interval {
            record.interval += slowDownStep
            return .slowDown
        }
        if let approvesAfterPolls, record.pendingAnswers >= approvesAfterPolls { return redeem(&record) }
        record.pendingAnswers += 1
        return .pending
    }

    private static func redeem(_ record: inout Record) -> Verdict {
        record.state = .redeemed
        return .approved(record.scope)
    }

    /// RFC 8628 §6.1: consonants, so that no code spells a word.
    private static let letters = Array("BCDFGHJKLMNPQRSTVWXZ")

    private mutating func drawUserCode() -> String {
        var code = ""
        repeat {
            code = String((0..<8).map { _ in Self.letters[Int.random(in: Self.letters.indices, using: &generator)] })
        } while deviceCodes[code] != nil
        return "\(code.prefix(4))-\(code.suffix(4))"
    }

    /// RFC 8628 §6.1: users type small letters, and hyphens where they like.
    private static func normalized(_ userCode: String) -> String {
        userCode.uppercased().filter(letters.contains)
    }
}

extension DeviceAuthority: Redacted {}
extension DeviceAuthority.Codes: Redacted {}
