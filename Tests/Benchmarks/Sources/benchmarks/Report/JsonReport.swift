import Foundation

/// The report for machines: an array of rows, units spelled out.
struct JsonReport {
    let lines: [Line]

    var text: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(lines), as: UTF8.self)
        }
    }
}
