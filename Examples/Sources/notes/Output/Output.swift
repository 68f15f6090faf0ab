import Foundation

/// Writes at once: a program that reads from a pipe waits for a line, not for a full buffer.
enum Output {
    static func line(_ text: String) {
        write(text, to: .standardOutput)
    }

    static func error(_ text: String) {
        write(text, to: .standardError)
    }

    private static func write(_ text: String, to handle: FileHandle) {
        // Fails when there is no reader any more, and so none to tell.
        try? handle.write(contentsOf: Data((text + "\n").utf8))
    }
}
