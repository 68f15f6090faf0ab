import Foundation

/// Faults of the token endpoint: one order after the other, each for as many requests as it says.
extension DemoServer {
    /// Carries out the next requests, whose refresh tokens are spent, and closes their connections without an answer.
    public func loseAnswers(next count: Int = 1) async {
        await backend.access { server, _ in server.faults.add(.answerLost, count: count) }
    }

    /// Closes the connections of the next requests before anything is done.
    public func dropRequests(next count: Int = 1) async {
        await backend.access { server, _ in server.faults.add(.requestDropped, count: count) }
    }

    /// Answers the next requests without doing anything.
    ///
    /// - Parameters:
    ///   - status: Any status: 500, 503, 429, or a 200 that holds garbage.
    ///   - body: The answer's body. Default: nothing.
    ///   - header: Fields of the answer, such as `Retry-After`. Default: none.
    ///   - count: How many requests. Default: 1.
    public func failTokenEndpoint(
        status: Int,
        body: String = "",
        header: [String: String] = [:],
        next count: Int = 1
    ) async {
        let answer = ApiAnswer(status: status, header: header, body: Data(body.utf8))
        await backend.access { server, _ in server.faults.add(.answer(answer), count: count) }
    }

    /// Withdraws all orders that are left.
    public func healTokenEndpoint() async {
        await backend.access { server, _ in server.faults.removeAll() }
    }
}
