import Nautilus

struct GetNote: JsonRequest {
    struct Note: Codable, Sendable { let id: Int, title: String }
    typealias Result = Note
    let id: Int
    var route: HttpRoute { ["notes", id] }
}

struct NotesService: HttpService {
    var apiUrl: any UrlConvertible { "api.example.com/v1" }
    var retrierFactory: any RetrierFactory { BackoffRetrier.factory() }
}
