/// When a process is killed that refreshes, and what the server makes of the token that it has sent.
struct StormKind: Hashable, Sendable {
    /// The moment, as the server sees it.
    enum Moment: String, CaseIterable, Sendable {
        /// The token has been sent, and the server has done nothing with it.
        case beforeRotation = "before the rotation"
        /// The server has spent the token, and what it has issued is lost with the process.
        case afterRotation = "after the rotation"
    }

    let moment: Moment
    /// How long the server answers a spent refresh token once more.
    let grace: Duration

    /// Both moments, without a grace and with one of 30 s.
    static let all = Moment.allCases.flatMap { moment in
        [.zero, .seconds(30)].map { StormKind(moment: moment, grace: $0) }
    }

    /// Whether the server lets the session go on for a client that makes no mistake.
    var isKeptByServer: Bool { moment == .beforeRotation || grace > .zero }
}
