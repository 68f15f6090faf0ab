import Foundation

/// The routes below `/v1/notes`, for requests that are authorized.
struct NotesRoutes: Sendable {
    private struct Page: Encodable {
        let notes: [NoteStore.Note]
        let page: Int
        let pageCount: Int
    }

    private var store: NoteStore

    init(store: NoteStore) {
        self.store = store
    }

    var titles: [String] { store.titles }

    /// The scope that a token needs for a request; nil for any token.
    static func requiredScope(of request: ApiRequest) -> String? {
        ["POST", "DELETE"].contains(request.method) ? DemoScope.write : nil
    }

    mutating func answer(_ request: ApiRequest, counters: inout ServerCounters) -> ApiAnswer {
        let components = request.path.split(separator: "/").map(String.init)
        guard components.starts(with: ["v1", "notes"]), components.count <= 3 else {
            return .failure(404, "not_found")
        }
        guard components.count == 3 else {
            switch request.method {
            case "GET": return list(page: request.query["page"] ?? "1")
            case "POST": return create(request, counters: &counters)
            default: return .methodNotAllowed(allowing: "GET, POST")
            }
        }
        guard let id = Int(components[2]) else { return .failure(404, "not_found") }
        switch request.method {
        case "GET": return store.note(id).map { .json(200, $0) } ?? .failure(404, "not_found")
        case "DELETE": return store.delete(id) ? ApiAnswer(status: 204) : .failure(404, "not_found")
        default: return .methodNotAllowed(allowing: "GET, DELETE")
        }
    }

    private func list(page: String) -> ApiAnswer {
        guard let page = Int(page), page >= 1 else { return .failure(400, "invalid_page") }
        return .json(200, Page(notes: store.page(page), page: page, pageCount: store.pageCount))
    }

    private mutating func create(_ request: ApiRequest, counters: inout ServerCounters) -> ApiAnswer {
        guard let draft = try? JSONDecoder().decode(NoteStore.Draft.self, from: request.body) else {
            return .failure(400, "invalid_note")
        }
        switch store.create(draft, key: request.idempotencyKey) {
        case .created(let note):
            counters.notesCreated += 1
            return .json(201, note)
        case .repeated(let note):
            counters.creationsRepeated += 1
            return .json(201, note)
        case .keyConflict:
            return .failure(422, "idempotency_key_reused")
        }
    }
}
