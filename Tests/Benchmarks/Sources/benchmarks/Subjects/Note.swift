import Foundation
import Nautilus

/// What the servers of all benchmarks answer: a document of five fields.
struct Note: Codable, Sendable {
    let id: Int
    let title: String
    let text: String
    let isPinned: Bool
    let tags: [String]

    static let json = Data(
        #"{"id":7,"title":"Shells","text":"A nautilus grows its shell in a spiral.","isPinned":true,"tags":["a","b"]}"#
            .utf8
    )
}

/// The call that all benchmarks make, decoded.
struct GetNote: JsonRequest {
    typealias Result = Note
    var route: HttpRoute { ["notes", 7] }
}

/// The same call, not decoded.
struct GetBytes: Request {
    typealias Result = Data
    var route: HttpRoute { ["notes", 7] }
    var timeout: Duration?
    var deadline: Duration?
}
