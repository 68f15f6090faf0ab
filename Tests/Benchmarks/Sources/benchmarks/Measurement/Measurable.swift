/// A row of the report, or several that belong together.
protocol Measurable: Sendable {
    /// The heading that it stands under.
    var group: String { get }
    /// The name of the measurement.
    var name: String { get }

    /// Measures it.
    func lines(_ effort: Effort) async throws -> [Line]
}
