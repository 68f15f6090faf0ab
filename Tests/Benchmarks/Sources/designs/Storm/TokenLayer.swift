/// One of the designs: it makes calls with a token, and gets another one when the server rejects it.
protocol TokenLayer: Sendable {
    /// How a call ends.
    typealias Completion = @Sendable (Result<Void, any Error>) -> Void

    /// Its name in the report.
    static var name: String { get }

    /// Begins with the server's first token.
    init(_ world: World)

    /// Makes one call, and says once how it ended: the way in that all designs can have, whatever they are made of.
    func get(_ call: Int, completion: @escaping Completion)
}
