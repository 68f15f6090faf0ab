import Foundation

/// What is wrong with a list, or with the tests, in words.
struct Complaint: Error, CustomStringConvertible {
    let description: String
}

/// An entry of the list of functions.
struct ChosenFunctions: Equatable {
    let file: String
    /// Nil for all of the file.
    let names: Set<String>?
    let suites: [String]

    /// Reads the list; its head says how it is written.
    static func list(from text: String) throws -> [ChosenFunctions] {
        var (entries, waiting): ([ChosenFunctions], [(file: String, names: Set<String>?)]) = ([], [])
        for line in text.meaningfulLines {
            let words = line.split(separator: " ").map(String.init)
            if words[0] == "by", words.count > 1, !waiting.isEmpty {
                let suites = Array(words.dropFirst())
                entries += waiting.map { ChosenFunctions(file: $0.file, names: $0.names, suites: suites) }
                waiting = []
            } else if words[0].hasSuffix(".swift:"), words.count > 1 {
                let names = words.dropFirst()
                waiting.append((String(words[0].dropLast()), names == ["*"] ? nil : Set(names)))
            } else {
                throw Complaint(description: "functions.txt: neither a file with functions nor its suites: \(line)")
            }
        }
        if let file = waiting.first?.file { throw Complaint(description: "functions.txt: no suites for \(file)") }
        return entries
    }
}

/// The faults that may survive, by their keys, each with the reason.
struct Survivors {
    let reasons: [String: String]

    /// Reads the list; its head says how it is written.
    init(_ text: String) throws {
        var (reasons, key): ([String: String], String?) = ([:], nil)
        for line in text.meaningfulLines {
            if !line.hasPrefix(" ") {
                if let key, reasons[key] == nil { throw Complaint(description: "survivors.txt: no reason for \(key)") }
                key = line
            } else if let key {
                reasons[key] = [reasons[key], line.trimmingCharacters(in: .whitespaces)].compactMap { $0 }
                    .joined(separator: " ")
            }
        }
        if let key, reasons[key] == nil { throw Complaint(description: "survivors.txt: no reason for \(key)") }
        self.reasons = reasons
    }

    func allow(_ fault: Fault) -> Bool { reasons[fault.key] != nil }

    /// The entries that no fault has: the source has changed.
    func outdated(for faults: [Fault]) -> [String] { Set(reasons.keys).subtracting(faults.map(\.key)).sorted() }
}

/// All faults of the list, with their numbers.
///
/// - Parameter sources: Texts by path.
func findFaults(of entries: [ChosenFunctions], in sources: [String: String]) throws -> [Fault] {
    var (faults, listed): ([Fault], Set<String>) = ([], [])
    for entry in entries {
        let paths = sources.keys.filter { ($0 as NSString).lastPathComponent == entry.file }
        guard paths.count == 1, let source = sources[paths[0]] else {
            throw Complaint(description: "functions.txt: \(paths.count) files are called \(entry.file)")
        }
        let finder = FaultFinder(file: entry.file, source: source, chosen: entry.names)
        if let missing = entry.names?.subtracting(finder.names).min() {
            throw Complaint(description: "functions.txt: \(entry.file) has no \(missing)")
        }
        let functions = Set(finder.faults.map { "\(entry.file): \($0.function)" })
        if let twice = functions.intersection(listed).min() {
            throw Complaint(description: "functions.txt: twice \(twice)")
        }
        listed.formUnion(functions)
        for var fault in finder.faults {
            (fault.number, fault.suites) = (faults.count + 1, entry.suites)
            faults.append(fault)
        }
    }
    return faults
}

/// A random choice; the same seed chooses the same.
func sample(_ count: Int, of faults: [Fault], seed: UInt64) -> [Fault] {
    var generator = SplitMix(state: seed)
    return faults.shuffled(using: &generator).prefix(count).sorted { $0.number < $1.number }
}

/// The generator "SplitMix64" by Sebastiano Vigna.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension String {
    /// Without empty lines and comments.
    fileprivate var meaningfulLines: [String] {
        split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") && !$0.allSatisfy(\.isWhitespace) }
    }
}
