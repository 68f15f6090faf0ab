/// A word as a shell reads it, so that a command which is printed can be copied.
struct ShellWord: CustomStringConvertible {
    let description: String

    init(_ text: String) {
        let isPlain = !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || "/._-:@%+=,".contains($0) }
        let quoted = text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
        description = isPlain ? text : "'\(quoted)'"
    }
}
