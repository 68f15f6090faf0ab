import Testing

/// A kind of store whose promises are tested.
struct StoreSubject: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Whether it keeps bytes, which others can change.
    let keepsBytes: Bool
    /// Opens an empty place of its own for each test.
    let open: @Sendable () throws -> StorePlace
}
