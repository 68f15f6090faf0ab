import Nautilus

struct GetNote {
    struct Note: Codable, Sendable { let id: Int, title: String }
    let id: Int
}
extension GetNote: JsonRequest {
    typealias Result = Note
    var route: HttpRoute { ["notes", id] }
}

struct NotesService {}
extension NotesService: HttpService {
    var apiUrl: any UrlConvertible { "api.example.com/v1" }
    var retrierFactory: any RetrierFactory { BackoffRetrier.factory() }
}
