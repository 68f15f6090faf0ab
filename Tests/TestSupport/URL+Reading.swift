import Foundation
import Testing

extension URL {
    /// The URL of a literal, or a failed test.
    package static func reading(_ text: String) throws -> URL {
        try #require(URL(string: text))
    }
}
