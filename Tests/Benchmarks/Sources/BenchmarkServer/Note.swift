import Foundation

/// The answer of the servers of all benchmarks: a document of five fields.
public struct Note: Codable, Sendable {
    /// Its number.
    public let id: Int
    /// Its title.
    public let title: String
    /// Its text.
    public let text: String
    /// Whether it stays on top.
    public let isPinned: Bool
    /// Its topics.
    public let tags: [String]

    /// One of them, as it is sent.
    public static let json = Data(
        #"{"id":7,"title":"Shells","text":"A nautilus grows its shell in a spiral.","isPinned":true,"tags":["a","b"]}"#
            .utf8
    )
}
