import Nautilus

/// Why a command fails: one line that says what to do, and a code for scripts.
struct Complaint: Error {
    let status: EndStatus
    var line: String
    /// The timelines of the calls that failed, for users who want to know more.
    var traces: [CallTrace] = []

    init(_ status: EndStatus, _ line: String) {
        self.status = status
        self.line = line
    }

    /// Writes it to the standard error.
    ///
    /// - Parameter isVerbose: Whether to show the timelines, too.
    func tell(isVerbose: Bool = false) {
        if isVerbose { for trace in traces { Output.error("\(trace)") } }
        Output.error("notes: " + line)
    }
}
