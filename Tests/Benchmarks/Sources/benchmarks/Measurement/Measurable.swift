/// A row of the report, or several that belong together.
protocol Measurable: Sendable {
    /// The heading that it stands under.
    var group: String { get }
    /// What is measured.
    var name: String { get }

    /// Measures it.
    func lines(_ effort: Effort) async throws -> [Line]
}
