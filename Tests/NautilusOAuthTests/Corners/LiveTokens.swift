import Foundation
import Nautilus
import NautilusTesting

/// A server that rotates refresh tokens, and ends by a revocation only the very token that is revoked: whatever it has
/// made and nobody has revoked stays alive.
///
/// A request is on its way for a while, whatever becomes of its connection; then the server acts; and its answer takes
/// a while.
final class LiveTokens: Sendable {
    private struct Books {
        var alive: Set<String>
        var last = 0
    }

    private let books: Locked<Books>

    /// - Parameters:
    ///   - alive: The refresh tokens that were issued before.
    ///   - server: The server in whose place this one answers.
    init(_ alive: Set<String>, at server: ScriptedTransport, clock: ManualClock, transit: Duration, answer: Duration) {
        books = Locked(Books(alive: alive))
        let arrive: @Sendable (@escaping @Sendable () -> Void) async -> Void = { act in
            await BackgroundTask.start {
                try? await clock.sleep(for: transit)
                act()
            }.value
        }
        server
            .on(.post, "/token") { [self] request, _ in
                let (token, fresh) = (Self.token("refresh_token", of: request), Locked<String?>(nil))
                await arrive { [self] in fresh.withLock { $0 = rotate(token) } }
                try await clock.sleep(for: answer)
                guard let fresh = fresh.withLock({ $0 }) else {
                    return .json(["error": "invalid_grant"], status: 400)
                }
                return .json(["access_token": "a-\(fresh)", "token_type": "Bearer", "refresh_token": fresh])
            }
            .on(.post, "/revoke") { [self] request, _ in
                let token = Self.token("token", of: request)
                await arrive { [self] in books.withLock { _ = $0.alive.remove(token) } }
                return .status(200)
            }
    }

    /// The refresh tokens that are alive.
    var alive: Set<String> { books.withLock { $0.alive } }

    /// The user signs in.
    func add(_ token: String) { books.withLock { _ = $0.alive.insert(token) } }

    private func rotate(_ token: String) -> String? {
        books.withLock { books in
            guard books.alive.remove(token) != nil else { return nil }
            books.last += 1
            let fresh = "fresh-\(books.last)"
            books.alive.insert(fresh)
            return fresh
        }
    }

    private static func token(_ name: String, of request: HttpRequest) -> String {
        guard case .data(let body) = request.body else { return "" }
        let items = URLComponents(string: "?" + String(decoding: body, as: UTF8.self))?.queryItems
        return items?.first { $0.name == name }?.value ?? ""
    }
}
