/// The notes of one environment, in memory.
struct NoteStore: Sendable {
    /// A note as it goes on the wire.
    struct Note: Codable, Hashable, Sendable {
        let id: Int
        let title: String
        let text: String
    }

    /// The data that a client sends to create a note.
    struct Draft: Codable, Hashable, Sendable {
        let title: String
        let text: String
    }

    /// The outcome of a creation.
    enum Creation: Hashable, Sendable {
        case created(Note)
        /// The key was used before, with the same draft: this is what it created then.
        case repeated(Note)
        /// The key was used before, with another draft.
        case keyConflict
    }

    static let pageSize = 10

    private var notes: [Int: Note] = [:]
    private var creations: [String: (draft: Draft, note: Note)] = [:]
    private var lastId = 0

    /// Creates a store with `count` notes, numbered from 1.
    init(count: Int) {
        for number in 1...max(1, count) { insert(Draft(title: "Note \(number)", text: "A chambered shell.")) }
    }

    var pageCount: Int { max(1, (notes.count + Self.pageSize - 1) / Self.pageSize) }

    /// The notes of a page, from 1, by number; empty beyond the last.
    func page(_ page: Int) -> [Note] {
        let (start, overflow) = (page - 1).multipliedReportingOverflow(by: Self.pageSize)
        guard !overflow else { return [] }
        return Array(notes.values.sorted { $0.id < $1.id }.dropFirst(start).prefix(Self.pageSize))
    }

    /// The titles of all notes, in no order.
    var titles: [String] { notes.values.map(\.title) }

    func note(_ id: Int) -> Note? { notes[id] }

    /// Creates a note, once for each key; without a key, each time.
    mutating func create(_ draft: Draft, key: String?) -> Creation {
        if let key, let earlier = creations[key] {
            return earlier.draft == draft ? .repeated(earlier.note) : .keyConflict
        }
        let note = insert(draft)
        if let key { creations[key] = (draft, note) }
        return .created(note)
    }

    mutating func delete(_ id: Int) -> Bool { notes.removeValue(forKey: id) != nil }

    @discardableResult
    private mutating func insert(_ draft: Draft) -> Note {
        lastId += 1
        let note = Note(id: lastId, title: draft.title, text: draft.text)
        notes[note.id] = note
        return note
    }
}
