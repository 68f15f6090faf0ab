import Foundation

/// What the servers of all benchmarks answer: a document of five fields.
public struct Note: Codable, Sendable {
    /// Its number.
    public let id: Int
    /// What it is called.
    public let title: String
    /// What it says.
    public let text: String
    /// Whether it stays on top.
    public let isPinned: Bool
    /// What it is about.
    public let tags: [String]

    /// One of them, as it is sent.
    public static let json = Data(
        #"{"id":7,"title":"Shells","text":"A nautilus grows its shell in a spiral.","isPinned":true,"tags":["a","b"]}"#
            .utf8
    )
}
