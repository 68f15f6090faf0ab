import Nautilus

// The first call of the README, word by word: a test compares them.
struct GetNote: JsonRequest {
    struct Note: Codable, Sendable { let id: Int, title: String }
    typealias Result = Note
    let id: Int
    var route: HttpRoute { ["notes", id] }
}

func makeFirstCall() async throws -> String {
    let service = AnyHttpService(apiUrl: "api.example.com/v1", retrierFactory: BackoffRetrier.factory())
    let note = try await GetNote(id: 7).schedule(with: service)
    return note.title
}
