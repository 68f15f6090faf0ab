import NautilusOAuth

/// The fate of one session, one process of which was killed while it refreshed and the others called.
struct StormRound: Sendable {
    let kind: StormKind
    /// How the calls of the others went.
    let finishes: [Runner.Finish]
    /// Whether there is a session in the end.
    let isKept: Bool

    var succeeded: Int { finishes.filter(\.hasSucceeded).count }
    var longestCall: Duration { finishes.map(\.time).max() ?? .zero }
    /// Whether the session is gone though the server would have gone on with it.
    var isLost: Bool { !isKept && kind.isKeptByServer }
    /// Whether no process but the killed one has noticed anything, or else the server has ended the session.
    var isGood: Bool { kind.isKeptByServer ? isKept && succeeded == finishes.count : !isKept }
}
