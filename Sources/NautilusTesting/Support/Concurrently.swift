/// Does the same many times at once, such as calls that meet one expired token.
///
/// ```swift
/// let notes = try await concurrently(50) { _ in try await GetNote(id: 7).schedule(with: service) }
/// #expect(server.count(of: .post, "/token") == 1)
/// ```
/// - Parameters:
///   - count: How many times; less than 1 counts as 0.
///   - work: The work, with its number, from 0.
/// - Returns: What each has returned, in the order of their numbers.
/// - Throws: The error of the first, in the same order, that has failed; once all have ended, so that what they have
///   done can be counted.
@discardableResult
public func concurrently<Value: Sendable>(
    _ count: Int,
    _ work: @escaping @Sendable (_ number: Int) async throws -> Value
) async throws -> [Value] {
    let results = await withTaskGroup(of: (Int, Result<Value, any Error>).self) { group in
        for number in 0..<max(0, count) {
            group.addTask {
                do { return (number, .success(try await work(number))) } catch { return (number, .failure(error)) }
            }
        }
        return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    return try results.sorted { $0.key < $1.key }.map { try $0.value.get() }
}
