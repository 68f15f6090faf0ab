import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting

/// A token of an API's own, which is refreshed by itself.
struct ApiToken: Codable, Hashable, Sendable {
    var value: String
    var expires: Date
}

/// An API with tokens of its own: `anna-1` is refreshed into `anna-2` once, in a header that is no `Authorization`.
final class TokenServer: Sendable {
    /// A fault of one refresh.
    enum Fault: Sendable {
        /// The token is refreshed, and the connection breaks.
        case answerLost
        /// An answer in place of the server's.
        case answered(ScriptedReply)
    }

    private struct Books {
        var live: Set<String> = []
        var faults: [Fault] = []
        var hasGrace = false
        var revoked: [String] = []
        /// The answers to the next revocations, in place of the server's.
        var revocationFaults: [ScriptedReply] = []
    }

    private let books = Locked(Books())
    /// Accepted for a refresh, and for nothing else.
    private let rejected = Locked<Set<String>>([])
    let transport: ScriptedTransport

    init(clock: any Clock<Duration>) {
        transport = ScriptedTransport(clock: clock) { _, _ in .status(500) }
        transport
            .on(.post, "/renew") { [self] request, _ in
                try await clock.sleep(for: .milliseconds(100))
                return refresh(request)
            }
            .on(.post, "/forget") { [self] request, _ in
                books.withLock { books in
                    if !books.revocationFaults.isEmpty { return books.revocationFaults.removeFirst() }
                    books.revoked.append(request.header["X-Api-Token"] ?? "")
                    return .status(204)
                }
            }
            .on(.get, "/notes") { [self] request, _ in
                let token = request.header["X-Api-Token"] ?? ""
                guard accepts(token), !rejected.withLock({ $0.contains(token) }) else { return .status(401) }
                return .reply(header: ["Cache-Control": "max-age=60"], text: token)
            }
            .on(.get, "/prices") { request, _ in .reply(text: request.header["X-Api-Token"] ?? "anonymous") }
    }

    func fail(_ faults: Fault...) { books.withLock { $0.faults += faults } }
    func failRevocation(with reply: ScriptedReply) { books.withLock { $0.revocationFaults.append(reply) } }
    func grantGrace() { books.withLock { $0.hasGrace = true } }
    func accepts(_ token: String) -> Bool { books.withLock { $0.live.contains(token) } }
    /// From now on a call with this token is answered 401, though it can still be refreshed.
    func reject(_ token: String) { rejected.withLock { _ = $0.insert(token) } }
    func end(_ token: String) { books.withLock { _ = $0.live.remove(token) } }
    func endSessions() { books.withLock { $0.live = [] } }

    /// The first token of a user, of an hour.
    func signIn(_ user: String, at now: Date) -> ApiToken {
        books.withLock { _ = $0.live.insert("\(user)-1") }
        return ApiToken(value: "\(user)-1", expires: now.addingTimeInterval(3600))
    }

    /// The tokens that came to be refreshed, in order.
    var refreshes: [String] {
        transport.attempts.filter { $0.request.url.path() == "/renew" }.map { $0.header["X-Api-Token"] ?? "" }
    }
    /// The tokens that calls for notes have carried, in order.
    var carried: [String] {
        transport.attempts.filter { $0.request.url.path() == "/notes" }.map { $0.header["X-Api-Token"] ?? "" }
    }
    var revoked: [String] { books.withLock { $0.revoked } }

    private func refresh(_ request: HttpRequest) -> ScriptedReply {
        books.withLock { books in
            let token = request.header["X-Api-Token"] ?? ""
            let fault = books.faults.isEmpty ? nil : books.faults.removeFirst()
            if case .answered(let reply) = fault { return reply }
            let (user, number) = (token.prefix { $0 != "-" }, Int(token.drop { $0 != "-" }.dropFirst()) ?? 0)
            let next = "\(user)-\(number + 1)"
            let isRepeated = books.hasGrace && books.live.contains(next)
            guard books.live.remove(token) != nil || isRepeated else { return .status(401) }
            books.live.insert(next)
            return if case .answerLost = fault { .fail(.networkConnectionLost) } else { .reply(text: next) }
        }
    }
}

/// The request that refreshes a token, or has the server forget it.
struct SendToken: Request {
    typealias Result = String
    let token: ApiToken
    var route: HttpRoute = ["renew"]
    var method: HttpMethod { .post }
    var header: HttpHeader { ["X-Api-Token": token.value] }
}

struct GetNotes: Request, Hashable {
    typealias Result = String
    var route: HttpRoute { ["notes"] }
}

struct GetPrices: Request {
    typealias Result = String
    var route: HttpRoute { ["prices"] }
}
