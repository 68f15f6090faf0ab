import Foundation
import Nautilus
import NautilusSessions
import NautilusTesting
import NautilusTraffic
import TestSupport
import Testing

@Suite("A refresh through the service of the calls")
struct RefreshThroughServiceTests {
    @Test(
        "a refresh by any method is not repeated by the service where it may have been executed",
        arguments: ["PUT", "GET", "POST with a key"]
    )
    func repeated(method: String) async throws {
        try await TokenWorld.run { world in
            let uses = Locked(0)
            let verb: HttpMethod = method == "PUT" ? .put : method == "GET" ? .get : .post
            world.server.transport.on(verb, "/rotate") { _, _ in
                uses.withLock { $0 += 1 }
                return .fail(.networkConnectionLost)
            }
            let api = world.api.with {
                if verb == .post { $0.interceptors = [IdempotencyKeys()] }
                $0.retrierFactory = BackoffRetrier.factory(
                    .standard.with {
                        $0.budget = .unlimited
                        $0.backoff = .constant(.zero)
                    }
                )
            }
            let token = ApiToken(value: "anna-1", expires: .distantFuture)
            let coordinator = RefreshCoordinator<ApiToken>(credential: token, clock: world.clock) { token in
                do throws(HttpError) {
                    return ApiToken(
                        value: try await Refresh(token: token, method: verb).schedule(with: api.anonymous),
                        expires: .distantFuture
                    )
                } catch {
                    throw RefreshError.Terminal("once is enough", underlying: error)
                }
            }
            _ = try? await coordinator.refresh(rejecting: coordinator.credential())
            #expect(uses.withLock { $0 } == 1)
        }
    }

    @Test(
        "a refresh is not sent twice for being slow, which a server that rotates takes for theft",
        arguments: ["PUT", "GET", "POST with a key"]
    )
    func hedged(method: String) async throws {
        try await TokenWorld.run { world in
            struct Books { var live: Set<String> = ["anna-1"]; var used: Set<String> = [] }
            let books = Locked(Books())
            let verb: HttpMethod = method == "PUT" ? .put : method == "GET" ? .get : .post
            world.server.transport
                .on(verb, "/rotate") { request, _ in
                    let token = request.header["X-Api-Token"] ?? ""
                    let reply: ScriptedReply = books.withLock { books in
                        guard books.used.insert(token).inserted else {
                            // RFC 9700 §4.14.2
                            books.live = []
                            return .status(401)
                        }
                        guard books.live.remove(token) != nil else { return .status(401) }
                        books.live.insert("anna-2")
                        return .reply(text: "anna-2")
                    }
                    // Slow, and nothing is lost.
                    try await world.clock.sleep(for: .milliseconds(300))
                    return reply
                }
                .on(.get, "/notes") { request, _ in
                    let token = request.header["X-Api-Token"] ?? ""
                    return books.withLock { $0.live.contains(token) } ? .reply(text: token) : .status(401)
                }
            let api = world.api.with {
                if verb == .post { $0.interceptors = [IdempotencyKeys()] }
                $0.interceptors.append(
                    Hedging(
                        after: .fixed(.milliseconds(100)),
                        latencies: OriginLatencies(),
                        budget: .unlimited
                    )
                )
            }
            let rules = SessionRules<ApiToken>(
                authorize: { token, request in request.header["X-Api-Token"] = token.value },
                lifetime: { .seconds($0.expires.timeIntervalSince(world.date)) },
                refresh: { token in
                    let value = try await Refresh(token: token, method: verb).schedule(with: api.anonymous)
                    return ApiToken(value: value, expires: .distantFuture)
                }
            )
            let session = world.process(rules)
            try await session.signIn(ApiToken(value: "anna-1", expires: world.date.addingTimeInterval(3600)))
            try await world.sleep(.seconds(3600))
            let result = await world.call(session)
            #expect(result.token == "anna-2", "\(result)")
            #expect(session.isSignedIn)
            #expect(world.server.transport.count(of: verb, "/rotate") == 1)
        }
    }

    @Test("the refusal of another call of the refresh, by a service with an error of its own, does not end the session")
    func reported() async throws {
        try await TokenWorld.run { world in
            world.server.transport.on(.post, "/reports", .status(401))
            world.server.fail(.answered(.status(503)))
            let service = world.api.mappingErrors { _ in OwnError.failed }
            let rules = SessionRules<ApiToken>(
                authorize: { token, request in request.header["X-Api-Token"] = token.value },
                refresh: { token in
                    do {
                        return ApiToken(
                            value: try await SendToken(token: token).schedule(with: service.anonymous),
                            expires: .distantFuture
                        )
                    } catch {
                        _ = try? await Report().schedule(with: service.anonymous)
                        throw error
                    }
                }
            )
            let session = try await world.signedIn("anna", rules)
            let credential = try #require(session.current)
            _ = try? await session.refresh(rejecting: credential)
            #expect(session.isSignedIn)
            #expect(world.store.load(world.key)?.hasExpired == false)
        }
    }

    @Test("a refresh whose answer does not decode shows nothing of it")
    func undecodable() async throws {
        struct RefreshJson: JsonRequest {
            typealias Result = ApiToken
            var method: HttpMethod { .post }
            var route: HttpRoute { ["json"] }
        }
        try await TokenWorld.run { world in
            world.server.transport.on(.post, "/json") { _, _ in
                .reply(
                    header: ["Content-Type": "application/json"],
                    text: #"{"value":"s3cret-1","expires":"s3cret-2","s3cret-3":1}"#
                )
            }
            let rules = SessionRules<ApiToken>(
                authorize: { token, request in request.header["X-Api-Token"] = token.value },
                refresh: { _ in try await RefreshJson().schedule(with: world.api.anonymous) }
            )
            let session = try await world.signedIn("s3cret", rules)
            let events = session.events
            let credential = try #require(session.current)
            do {
                _ = try await session.refresh(rejecting: credential)
                Issue.record("no failure")
            } catch {
                var text = ""
                dump(error, to: &text)
                for text in [text, "\(error)", String(reflecting: error), error.localizedDescription] {
                    #expect(!text.contains("s3cret"), "\(text.prefix(2000))")
                }
            }
            for await event in events.prefix(1) {
                var text = ""
                dump(event, to: &text)
                #expect(!(text + "\(event)").contains("s3cret"))
            }
        }
    }
}

/// A refresh by any method, with a token in a field of its own.
private struct Refresh: Request {
    typealias Result = String
    let token: ApiToken
    let method: HttpMethod
    var route: HttpRoute { ["rotate"] }
    var header: HttpHeader { ["X-Api-Token": token.value] }
}

private struct Report: Request {
    typealias Result = String
    var method: HttpMethod { .post }
    var route: HttpRoute { ["reports"] }
}

private enum OwnError: Error { case failed }
