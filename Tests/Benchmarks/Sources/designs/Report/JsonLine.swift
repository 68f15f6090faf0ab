import Foundation

/// A row as a JSON object on one line, its keys in a fixed order.
struct JsonLine {
    let row: Row

    var text: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return String(decoding: try encoder.encode(row), as: UTF8.self)
        }
    }
}
