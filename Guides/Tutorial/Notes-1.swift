import Nautilus

struct GetNote: JsonRequest {
    struct Note: Codable, Sendable { let id: Int, title: String }
    typealias Result = Note
    let id: Int
    var route: HttpRoute { ["notes", id] }
}
