import Foundation
import Testing

extension URL {
    /// The URL of a literal, or a failed test.
    package static func reading(_ text: String) throws -> URL {
        try #require(URL(string: text))
    }

    /// The URL of a literal, where nothing can be thrown. Of a text that is none, the root folder's, which no test expects.
    package static func literal(_ text: String) -> URL { URL(string: text) ?? URL(fileURLWithPath: "/") }
}
