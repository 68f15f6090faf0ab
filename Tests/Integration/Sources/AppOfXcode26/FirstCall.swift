import Nautilus

// The first call of the README, with `nonisolated` as it says, word by word: a test compares them.
nonisolated struct GetNote {
    struct Note: Codable, Sendable { let id: Int, title: String }
    let id: Int
}
nonisolated extension GetNote: JsonRequest {
    typealias Result = Note
    var route: HttpRoute { ["notes", id] }
}

func makeFirstCall() async throws -> String {
    let service = AnyHttpService(apiUrl: "api.example.com/v1", retrierFactory: BackoffRetrier.factory())
    let note = try await GetNote(id: 7).schedule(with: service)
    return note.title
}
