import ArgumentParser
import Foundation

/// How a command ends, for scripts: the numbers of `sysexits.h`, where they have one.
enum EndStatus: Int32, CaseIterable {
    case success = 0
    case failure = 1
    case usage = 64
    case unavailable = 69
    case store = 74
    case signedOut = 77
    /// The status that shells give for Ctrl-C.
    case stopped = 130

    var code: ExitCode { ExitCode(rawValue) }

    /// Ends the process, from wherever it is.
    func end() -> Never { exit(rawValue) }

    /// All of them, for the help.
    static var table: String {
        allCases.map { status in
            let number = "\(status.rawValue)"
            return String(repeating: " ", count: 5 - number.count) + number + "  " + status.meaning
        }.joined(separator: "\n")
    }

    private var meaning: String {
        switch self {
        case .success: "done"
        case .failure: "the server refuses, or a race or a storm went wrong"
        case .usage: "the command line is wrong"
        case .unavailable: "the server is out of reach or overloaded: try again later"
        case .store: "the credential cannot be kept or read"
        case .signedOut: "nobody is signed in, or the sign-in does not allow it"
        case .stopped: "stopped by a signal"
        }
    }
}
