import Foundation

/// Writes at once: whoever reads from a pipe waits for a line, not for a full buffer.
enum Output {
    static func line(_ text: String) {
        write(text, to: .standardOutput)
    }

    static func error(_ text: String) {
        write(text, to: .standardError)
    }

    private static func write(_ text: String, to handle: FileHandle) {
        // Nobody reads any more: there is nobody to tell.
        try? handle.write(contentsOf: Data((text + "\n").utf8))
    }
}
