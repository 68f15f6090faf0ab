import Foundation
import Nautilus
import NautilusOAuth
import NautilusTesting

/// An authorization server with rotating refresh tokens, and the API behind it: it keeps the books.
///
/// A user's tokens are numbered: `anna-r1` buys `anna-a2` and `anna-r2`.
final class RotatingServer: Sendable {
    /// A fault of one request at the token endpoint.
    enum Fault: Sendable {
        /// The connection breaks before the server has done anything, but after the request was sent.
        case droppedBefore
        /// The token is rotated, and the connection breaks.
        case answerLost
        /// The token is rotated, and nothing is heard of it.
        case silent
        /// There is no connection.
        case refused
        /// An answer in place of the server's.
        case answered(ScriptedReply)
    }

    private struct Books {
        var numbers: [String: Int] = [:]
        var live: Set<String> = []
        var ended: Set<String> = []
        var faults: [Fault] = []
        var hasGrace = false
        var delay = Duration.milliseconds(100)
        var spent: [String] = []
        var reuses = 0
        var graceReuses = 0
        var revoked: [String] = []
        /// The users whose token is being refreshed, and how often a refresh began during another: two processes at a time.
        var refreshing: Set<String> = []
        var overlaps = 0
    }

    private let books = Locked(Books())
    let transport: ScriptedTransport
    private let lifetime: Duration?

    /// - Parameter lifetime: How long tokens serve; nil for no `expires_in`.
    init(clock: ManualClock, lifetime: Duration? = .seconds(3600)) {
        self.transport = ScriptedTransport(clock: clock) { _, _ in .status(500) }
        self.lifetime = lifetime
        transport
            .on(.post, "/token") { [self] request, _ in try await token(request, clock) }
            .on(.post, "/revoke") { [self] request, _ in revoke(request) }
            .on(.get, "/notes") { [self] request, _ in notes(request) }
    }

    // MARK: Changes by a test

    func fail(_ faults: Fault...) { books.withLock { $0.faults += faults } }
    func grantGrace() { books.withLock { $0.hasGrace = true } }
    func setDelay(_ delay: Duration) { books.withLock { $0.delay = delay } }
    func revokeAccessTokens() { books.withLock { $0.live = [] } }
    func endSession(of user: String) { books.withLock { _ = $0.ended.insert(user) } }

    /// The first tokens of a user.
    func signIn(_ user: String, at date: Date) -> OAuthCredential {
        books.withLock { books in
            books.numbers[user] = 1
            books.live.insert("\(user)-a1")
        }
        return OAuthCredential(
            accessToken: "\(user)-a1",
            refreshToken: "\(user)-r1",
            lifetime: lifetime,
            receivedAt: date
        )
    }

    // MARK: Questions of a test

    /// The refresh tokens that were spent, in order: those that brought a new one.
    var spent: [String] { books.withLock { $0.spent } }
    /// How often a spent refresh token came again, and ended its session.
    var reuses: Int { books.withLock { $0.reuses } }
    /// How often one came again within its grace.
    var graceReuses: Int { books.withLock { $0.graceReuses } }
    /// The tokens that clients have revoked.
    var revoked: [String] { books.withLock { $0.revoked } }
    /// How often a user's token was refreshed twice at a time.
    var overlaps: Int { books.withLock { $0.overlaps } }
    /// The refresh token that is good now; nil when none is.
    func refreshToken(of user: String) -> String? {
        books.withLock { books in
            books.ended.contains(user) ? nil : books.numbers[user].map { "\(user)-r\($0)" }
        }
    }
    /// How many requests the token endpoint has had, whatever became of them.
    var tokenRequests: Int { transport.attempts.count { $0.request.url.path() == "/token" } }
    /// The access tokens that calls have carried, in order.
    var carried: [String?] {
        transport.attempts.filter { $0.request.url.path() == "/notes" }.map { attempt in
            attempt.header[.authorization].map { String($0.dropFirst("Bearer ".count)) }
        }
    }

    // MARK: Answers

    private func token(_ request: HttpRequest, _ clock: ManualClock) async throws -> ScriptedReply {
        guard let token = Self.field("refresh_token", of: request) else { return .status(400) }
        let user = String(token.prefix { $0 != "-" })
        let (fault, delay) = books.withLock { books in
            if !books.refreshing.insert(user).inserted { books.overlaps += 1 }
            return (books.faults.isEmpty ? nil : books.faults.removeFirst(), books.delay)
        }
        defer { books.withLock { _ = $0.refreshing.remove(user) } }
        if case .refused = fault { return .fail(.cannotConnectToHost, delivery: .notSent) }
        let reply: ScriptedReply =
            switch fault {
            case .refused, .droppedBefore: .fail(.networkConnectionLost)
            case .answered(let reply): reply
            case .answerLost: books.withLock { rotate(token, in: &$0) }.lost
            case .silent: books.withLock { rotate(token, in: &$0) }.unheard
            case nil: books.withLock { rotate(token, in: &$0) }
            }
        try await clock.sleep(for: delay)
        return reply
    }

    private func rotate(_ token: String, in books: inout Books) -> ScriptedReply {
        let user = String(token.prefix { $0 != "-" })
        let invalid = ScriptedReply.json(["error": "invalid_grant"], status: 400)
        guard let number = books.numbers[user], !books.ended.contains(user) else { return invalid }
        if token == "\(user)-r\(number)" {
            books.spent.append(token)
            books.numbers[user] = number + 1
            books.live.insert("\(user)-a\(number + 1)")
            return reply(user, number + 1)
        }
        if books.hasGrace, token == "\(user)-r\(number - 1)" {
            books.graceReuses += 1
            return reply(user, number)
        }
        // Stolen, or its answer was lost: there is no telling.
        books.reuses += 1
        books.ended.insert(user)
        return invalid
    }

    private func reply(_ user: String, _ number: Int) -> ScriptedReply {
        let seconds = lifetime.map { #","expires_in":\#($0.components.seconds)"# } ?? ""
        let tokens = #""access_token":"\#(user)-a\#(number)","refresh_token":"\#(user)-r\#(number)""#
        return .reply(
            header: [.contentType: "application/json"],
            text: #"{"token_type":"Bearer",\#(tokens)\#(seconds)}"#
        )
    }

    private func revoke(_ request: HttpRequest) -> ScriptedReply {
        guard let token = Self.field("token", of: request) else { return .status(400) }
        books.withLock { books in
            books.revoked.append(token)
            books.ended.insert(String(token.prefix { $0 != "-" }))
        }
        return .status(200)
    }

    /// Whether a request carries a token that has not been revoked.
    func accepts(_ request: HttpRequest) -> Bool {
        let token = request.header[.authorization]?.dropFirst("Bearer ".count) ?? ""
        return books.withLock { $0.live.contains(String(token)) }
    }

    private func notes(_ request: HttpRequest) -> ScriptedReply {
        let challenge: HttpHeader = [.wwwAuthenticate: #"Bearer error="invalid_token""#]
        return .delay(.milliseconds(10), then: accepts(request) ? .reply(text: "ok") : .status(401, header: challenge))
    }

    private static func field(_ name: String, of request: HttpRequest) -> String? {
        guard case .data(let body) = request.body else { return nil }
        let items = URLComponents(string: "?" + String(decoding: body, as: UTF8.self))?.queryItems
        return items?.first { $0.name == name }?.value
    }
}

extension ScriptedReply {
    /// The answer was made, and never arrives.
    fileprivate var lost: ScriptedReply { .fail(.networkConnectionLost) }
    /// The answer was made, and neither it nor the connection's end ever arrives.
    fileprivate var unheard: ScriptedReply { .hang }
}
