import Foundation

/// The kind of the standard output, and its abilities.
struct Terminal: Sendable {
    /// Whether a person watches: only then is a line redrawn.
    let isInteractive: Bool
    /// How emphasis is shown.
    let style: TextStyle

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let isInteractive = isatty(STDOUT_FILENO) == 1 && environment["TERM"] != "dumb"
        // https://no-color.org: set and not empty means no colour.
        let refusesColor = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        self.isInteractive = isInteractive
        self.style = TextStyle(isColored: isInteractive && !refusesColor)
    }

    /// Writes at once, without a line break.
    func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }
}
