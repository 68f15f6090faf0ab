import Testing

/// States of a store's place, and what each operation does there.
enum StoreTable {
    enum Outcome: Sendable {
        case nothing, first, done, version, lock
        case damaged, foreign, newer
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let state: StoreState
        let load: Outcome
        let save: Outcome
        let delete: Outcome
        let version: Outcome
        let lock: Outcome

        var testDescription: String { "\(state)" }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let subject: StoreSubject
        let row: Row

        var testDescription: String { "\(subject.testDescription), \(row.state)" }
    }

    static let rows: [Row] = [
        Row(state: .empty, load: .nothing, save: .done, delete: .done, version: .nothing, lock: .lock),
        Row(state: .stored, load: .first, save: .done, delete: .done, version: .version, lock: .lock),
        // A new sign-in replaces it.
        Row(state: .damaged, load: .damaged, save: .done, delete: .done, version: .version, lock: .lock),
        // Left alone: somebody else's, or a session that an older version would lose.
        Row(state: .foreign, load: .foreign, save: .foreign, delete: .foreign, version: .version, lock: .lock),
        Row(state: .newer, load: .newer, save: .newer, delete: .newer, version: .version, lock: .lock),
        // The session decides which process may write; a store that is asked does.
        Row(state: .locked, load: .first, save: .done, delete: .done, version: .version, lock: .nothing),
    ]

    static let cases: [Case] = StoreSubject.all.flatMap { subject in
        rows.filter { subject.keepsBytes || !$0.state.isPlanted }.map { Case(subject: subject, row: $0) }
    }
}
