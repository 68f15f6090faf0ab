import Foundation

/// Makes the processes of a race begin at the same moment: each says that it is ready, and waits for the end of its
/// standard input, which is the same for all.
enum StartSignal {
    /// The line that a process prints once nothing but the signal is missing.
    static let ready = "ready"

    static func wait() {
        Output.line(ready)
        while !FileHandle.standardInput.availableData.isEmpty {}
    }
}
