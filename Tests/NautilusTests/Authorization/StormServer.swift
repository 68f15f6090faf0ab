import Foundation
import Nautilus
import NautilusTesting
import TestSupport

/// How bad the weather is.
struct StormWeather: Sendable {
    /// How probable it is that the server revokes all tokens while it answers a request.
    let revocation: Double
    /// Whether users sign out and in, sessions end for good, and tokens expire.
    let hasUsers: Bool
}

/// A server with rotating tokens in bad weather, which keeps the books.
///
/// Token numbers tell the user: a million to each.
final class StormServer: Sendable {
    private struct Books: Sendable {
        var live: Set<Int>
        var lastIssued: [Int: Int] = [:]
        /// The tokens that have been spent on a refresh: none may be spent twice.
        var spent: Set<Int> = []
        /// The users whose token is being refreshed: one refresh at a time for each.
        var refreshing: Set<Int> = []
        var revocations = 0
        /// As which user each call went out first; it may go out as no other.
        var users: [String: Int] = [:]
        var complaints: [String] = []
    }

    private struct Unreachable: Error {}

    static let firstToken = Token(number: 1_000_001)
    private let books = Locked(Books(live: [firstToken.number], lastIssued: [1: firstToken.number]))
    private let simulation: Simulated
    private let weather: StormWeather

    init(_ simulation: Simulated, _ weather: StormWeather) {
        self.simulation = simulation
        self.weather = weather
    }

    var complaints: [String] { books.withLock { $0.complaints } }
    var revocations: Int { books.withLock { $0.revocations } }
    var rotations: Int { books.withLock { $0.spent.count } }

    func expect(_ condition: Bool, _ complaint: @autoclosure () -> String) {
        guard !condition else { return }
        let complaint = complaint()
        books.withLock { if $0.complaints.count < 5 { $0.complaints.append(complaint) } }
    }

    /// A new session of a user who has not been here before.
    func signIn() -> Token {
        books.withLock { books in
            let user = (books.lastIssued.keys.max() ?? 0) + 1
            return Self.issue(to: user, in: &books)
        }
    }

    /// Rotates: every token is spent at most once, and no user's is refreshed twice at a time.
    func refresh(_ token: Token) async throws -> Token {
        let random = simulation.random
        let user = token.number / 1_000_000
        let (isAlone, isFresh) = books.withLock { books in
            (books.refreshing.insert(user).inserted, !books.spent.contains(token.number))
        }
        expect(isAlone, "two refreshes at a time")
        expect(isFresh, "token \(token.number) was spent twice")
        defer { books.withLock { _ = $0.refreshing.remove(user) } }
        try await simulation.clock.sleep(for: .milliseconds(20) + .milliseconds(200) * random.nextFraction())
        let draw = random.nextFraction()
        // One in five never reaches the server, which has rotated nothing then.
        guard draw >= 0.2 else { throw Unreachable() }
        guard !weather.hasUsers || draw >= 0.3 else { throw RefreshError.Terminal("invalid_grant") }
        return books.withLock { books in
            books.spent.insert(token.number)
            books.live.remove(token.number)
            return Self.issue(to: user, in: &books)
        }
    }

    private static func issue(to user: Int, in books: inout Books) -> Token {
        let number = (books.lastIssued[user] ?? user * 1_000_000) + 1
        books.lastIssued[user] = number
        books.live.insert(number)
        return Token(number: number)
    }

    func answer(_ request: HttpRequest) -> ScriptedReply {
        let random = simulation.random
        let latency = Duration.milliseconds(1) + .milliseconds(100) * random.nextFraction()
        let (draw, isRevoked) = (random.nextFraction(), random.nextFraction() < weather.revocation)
        let number = (request.header[.authorization]?.dropFirst("Bearer token-".count)).flatMap { Int($0) } ?? 0
        let call = request.header["X-Call"] ?? ""
        let (isLive, first) = books.withLock { books in
            // The server revokes now and then, in the middle of everything.
            if isRevoked, !books.live.isEmpty {
                books.live = []
                books.revocations += 1
            }
            let first = books.users[call] ?? number / 1_000_000
            books.users[call] = first
            return (books.live.contains(number), first)
        }
        expect(number > 0, "a request without a token")
        expect(first == number / 1_000_000, "call \(call) of user \(first) went out as \(number / 1_000_000)")
        guard isLive else { return .delay(latency, then: .status(401)) }
        switch draw {
        case ..<0.1: return .delay(latency, then: .status(503))
        case ..<0.15: return .delay(latency, then: .fail(.networkConnectionLost))
        case ..<0.17: return .delay(latency, then: .status(429, header: ["Retry-After": "1"]))
        default: return .delay(latency, then: .reply(text: "ok"))
        }
    }
}
