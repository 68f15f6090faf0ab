/// How far the run is: one line, redrawn in place, on a terminal; nothing elsewhere.
actor ProgressLine {
    private let total: Int
    private let terminal: Terminal
    private let clock = ContinuousClock()
    private let start = ContinuousClock.now
    private var lastDrawn: ContinuousClock.Instant?
    private var done = 0
    private var attempts = 0
    private var failed = 0

    init(total: Int, terminal: Terminal) {
        self.total = total
        self.terminal = terminal
    }

    /// Draws the line for the first time.
    func begin() {
        draw(at: clock.now)
    }

    /// Counts a call, and redraws at most 20 times a second: more is flicker.
    func callEnded(_ outcome: CallOutcome) {
        done += 1
        attempts += outcome.trace.attempts.count
        if outcome.failure != nil { failed += 1 }
        let now = clock.now
        if let lastDrawn, lastDrawn.duration(to: now) < .milliseconds(50), done < total { return }
        draw(at: now)
    }

    /// Takes the line away.
    func clear() {
        if lastDrawn != nil { terminal.write("\r\u{1B}[K") }
    }

    private func draw(at now: ContinuousClock.Instant) {
        guard terminal.isInteractive else { return }
        lastDrawn = now
        terminal.write("\r" + line(after: start.duration(to: now)) + "\u{1B}[K")
    }

    private func line(after elapsed: Duration) -> String {
        let width = 24
        let filled = width * done / max(1, total)
        let rest = terminal.style.dim(String(repeating: "░", count: width - filled))
        let bar = String(repeating: "█", count: filled) + rest
        let failures = failed > 0 ? ", " + terminal.style.bad("\(failed) failed") : ""
        return "  \(bar)  \(done) of \(total) calls, \(attempts - done) retries\(failures), \(elapsed.shown)"
    }
}
