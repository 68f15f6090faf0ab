import Foundation

extension HttpError {
    /// The body of the response, decoded: the server's own account of its refusal, for a service's own error.
    ///
    /// ```swift
    /// func mapError(_ error: HttpError) -> NotesError {
    ///     error.responseBody(as: Problem.self).map(NotesError.refused) ?? .failed(error)
    /// }
    /// ```
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - decoder: The decoder. Default: a new `JSONDecoder`.
    /// - Returns: Nil when there was no response, when its body is something else, and when it is larger than
    ///   ``bodyLimit``, of which an error keeps only the beginning.
    public func responseBody<Body: Decodable>(
        as type: Body.Type = Body.self,
        decoder: JSONDecoder = JSONDecoder()
    ) -> Body? {
        response.flatMap { try? decoder.decode(type, from: $0.body) }
    }
}
