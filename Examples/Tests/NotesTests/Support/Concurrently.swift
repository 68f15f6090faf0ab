import NotesAPI

/// Runs `count` calls at once and returns how they went.
func concurrently<Success: Sendable>(
    _ count: Int,
    _ call: @escaping @Sendable (Int) async throws(NotesError) -> Success
) async -> [Result<Success, NotesError>] {
    await withTaskGroup(of: Result<Success, NotesError>.self) { group in
        for number in 0..<count {
            group.addTask {
                do throws(NotesError) { return .success(try await call(number)) } catch { return .failure(error) }
            }
        }
        return await group.reduce(into: []) { $0.append($1) }
    }
}

extension Array {
    func successes<Success, Failure: Error>() -> [Success] where Element == Result<Success, Failure> {
        compactMap { try? $0.get() }
    }

    func failures<Success, Failure: Error>() -> [Failure] where Element == Result<Success, Failure> {
        compactMap { if case .failure(let error) = $0 { error } else { nil } }
    }
}
