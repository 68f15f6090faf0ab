import Foundation
import NautilusFleets

/// How far each policy is: a line each, redrawn in place, on a terminal; nothing elsewhere.
struct ProgressLines {
    private let seconds: Int
    private let isInteractive: Bool
    private let clock = ContinuousClock()
    private var latest: [Policy: FleetSecond] = [:]
    private var lastDrawn: ContinuousClock.Instant?

    init(duration: Duration, isQuiet: Bool, environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.seconds = Int((duration / .seconds(1)).rounded(.up))
        self.isInteractive = !isQuiet && isatty(STDOUT_FILENO) == 1 && environment["TERM"] != "dumb"
    }

    /// Draws the lines for the first time.
    mutating func begin() {
        draw()
    }

    /// Takes note of a second, and redraws at most 20 times in a real one: more is flicker.
    mutating func show(_ second: PolicySecond) {
        latest[second.policy] = second.second
        if let lastDrawn, clock.now - lastDrawn < .milliseconds(50) { return }
        draw()
    }

    /// Takes the lines away.
    func clear() {
        if lastDrawn != nil { write("\u{1B}[\(Policy.allCases.count)A\u{1B}[J") }
    }

    private mutating func draw() {
        guard isInteractive else { return }
        let up = lastDrawn == nil ? "" : "\u{1B}[\(Policy.allCases.count)A"
        write(up + Policy.allCases.map { "  \(line(of: $0))\u{1B}[K\n" }.joined())
        lastDrawn = clock.now
    }

    private func line(of policy: Policy) -> String {
        let name = policy.rawValue.padding(toLength: 14, withPad: " ", startingAt: 0)
        let second = latest[policy]
        let (width, done) = (24, second.map { $0.number + 1 } ?? 0)
        let filled = width * done / max(1, seconds)
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        guard let second else { return name + bar }
        return "\(name)\(bar)  \(done) s: \(second.sends) sent, \(second.succeeded) succeeded"
    }

    private func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }
}
