/// The files of tests that have to be built: those that have the suites, all that have no test, and those whose types and
/// functions these name, and so on. Most of the time goes into building tests.
///
/// - Parameter files: Texts by path.
func neededTests(for suites: Set<String>, in files: [String: String]) -> Set<String> {
    var (needed, others): ([String], [String: [String]]) = ([], [:])
    for (path, text) in files {
        let names = declaredNames(of: text)
        if !text.contains("@Test") || !suites.isDisjoint(with: names) {
            needed.append(path)
        } else {
            others[path] = names
        }
    }
    var result = Set(needed)
    while let path = needed.popLast() {
        let words = Set((files[path] ?? "").utf8.split { !$0.isOfWord }.map { String(decoding: $0, as: UTF8.self) })
        for (other, names) in others where !words.isDisjoint(with: names) {
            others[other] = nil
            result.insert(other)
            needed.append(other)
        }
    }
    return result
}

/// The types of a file, also those in an extension or in another type, and the functions and variables outside of types.
private func declaredNames(of text: String) -> [String] {
    text.split(separator: "\n").flatMap { line -> [String] in
        let indentation = line.prefix { $0 == " " }.count
        guard indentation <= 4 else { return [] }
        let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
        let keywords = indentation == 0 ? typeKeywords.union(["func", "let", "var"]) : typeKeywords
        guard !words.contains("private"), let index = words.firstIndex(where: { keywords.contains(String($0)) }) else {
            return []
        }
        return words.dropFirst(index + 1).prefix(1).map(String.init)
    }
}

private let typeKeywords: Set = ["struct", "class", "enum", "actor", "protocol", "typealias", "extension"]

extension UInt8 {
    fileprivate var isOfWord: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: false
        }
    }
}
