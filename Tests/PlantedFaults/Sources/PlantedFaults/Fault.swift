/// A small change of the sources that a test has to notice.
public struct Fault: Hashable, Sendable {
    /// How a fault is written into the source, so that a switch turns it on.
    enum Form: Hashable, Sendable {
        /// An expression becomes a ternary of the changed text and the original.
        case choice
        /// A statement is only carried out without the fault.
        case dropped
        /// A list of conditions gets one more, which fails with the fault.
        case neverMet
    }

    /// Turns it on; from 1, in the order of the list and of the source.
    public var number = 0
    /// The name of the file, without folders: files may move.
    public let file: String
    /// The function, property or initializer that it is in.
    public let function: String
    let line: Int
    /// The place's text, on one line.
    let original: String
    /// What the place is with the fault, on one line.
    let changed: String
    /// Which one it is of those in the function with the same two texts; from 1.
    var occurrence = 1
    let form: Form
    /// What is inserted in front of the original, as text of the source.
    let changedSource: String
    /// The place, in bytes of the source.
    let range: Range<Int>
    /// The suites of tests that have to notice.
    public var suites: [String] = []

    /// What the list of survivors calls it. Does not depend on lines and on other places.
    var key: String { "\(file), \(what)" }

    private var what: String {
        "\(function): \(original) -> \(changed)" + (occurrence > 1 ? " #\(occurrence)" : "")
    }
}

extension Fault: CustomStringConvertible {
    /// As a line of the output has it.
    public var description: String { "\(number) \(file):\(line), \(what)" }
}

/// The text of a source with faults in it, of which none is on.
func planted(_ faults: [Fault], in source: String) -> String {
    var before: [Int: [String]] = [:]
    var after: [Int: [String]] = [:]
    // Of two that begin at the same byte, the outer one has the lower number.
    for fault in faults.sorted(by: { $0.number < $1.number }) {
        let isOn = "plantedFault(\(fault.number))"
        let (start, end) =
            switch fault.form {
            case .choice: ("(\(isOn) ? (\(fault.changedSource)) : (", "))")
            case .dropped: ("if !\(isOn) { ", " }")
            case .neverMet: ("", ", !\(isOn)")
            }
        before[fault.range.lowerBound, default: []].append(start)
        after[fault.range.upperBound, default: []].insert(end, at: 0)
    }
    var (result, bytes) = ("", Array(source.utf8)[...])
    for offset in Set(before.keys).union(after.keys).sorted() {
        let passed = offset - bytes.startIndex
        result += String(decoding: bytes.prefix(passed), as: UTF8.self)
        bytes = bytes.dropFirst(passed)
        result += (after[offset, default: []] + before[offset, default: []]).joined()
    }
    return result + String(decoding: bytes, as: UTF8.self)
}

/// The switch: a file for each module that has faults.
let switchSource = """
    import Foundation

    private let plantedFaultThatIsOn =
        ProcessInfo.processInfo.environment["NAUTILUS_PLANTED_FAULT"].flatMap { Int($0) } ?? 0

    @usableFromInline
    func plantedFault(_ number: Int) -> Bool { number == plantedFaultThatIsOn }

    """
