import Foundation
import Nautilus
import NautilusTesting
import TestSupport
import Testing

/// 12.1: an attempt may make several exchanges, and the server rejects one of them.
@Suite("C1: attempts repeated for a rejected credential")
struct CallAuthorizerTests {
    /// An interceptor from a closure.
    struct Closure: CallInterceptor {
        let handle: @Sendable (HttpRequest, CallContext, Next) async throws -> HttpResponse<Data>

        func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
            try await handle(request, context, next)
        }
    }

    /// Asks for the job that a 202 has begun, until it is done.
    static let polling = Closure { request, _, next in
        var response = try await next(request)
        while response.status == 202 { response = try await next(HttpRequest(url: request.url.appending(path: "job"))) }
        return response
    }

    /// The same by subrequests, whose failure it throws.
    static let pollingBySubrequest = Closure { request, context, next in
        var response = try await next(request)
        while response.status == 202 {
            response = try await context.send(HttpRequest(url: request.url.appending(path: "job")))
            guard response.status < 400 else { throw response.failure }
        }
        return response
    }

    /// Asks for the job and never for the thing itself.
    static let askingOnly = Closure { request, _, next in
        try await next(HttpRequest(url: request.url.appending(path: "job")))
    }

    /// Draws a ticket before the order is sent.
    static let drawingTicket = Closure { request, context, next in
        let ticket = try await context.send(HttpRequest(url: request.url.appending(path: "ticket")))
        guard ticket.status == 200 else { throw ticket.failure }
        return try await next(request)
    }

    /// A call with `interceptor`, with the sends that it made.
    static func outcome(
        of request: Ping = Ping(method: .post, route: ["orders"]),
        by interceptor: Closure? = nil,
        accepting accepted: Set<Int> = [],
        answer: @escaping @Sendable (HttpRequest, _ isAccepted: Bool) -> ScriptedReply
    ) async throws -> (result: CallResult, sends: [String], refreshes: Int) {
        try await simulate { simulation in
            let world = TokenWorld(simulation, accepting: accepted, answer: answer)
            let service = AnyHttpService(
                apiUrl: "api.example.com",
                interceptors: interceptor.map { [$0] } ?? [],
                retrierFactory: AuthorizationRetrier.factory(world.coordinator),
                transport: world.transport,
                clock: world.clock
            )
            let result = await request.result(with: service)
            let sends = world.transport.attempts.map { "\($0.request.method) \($0.request.url.path)" }
            return (result, sends, world.server.refreshCount)
        }
    }

    @Test(
        "C1: an order that was answered 202 is placed once, when only the question what became of it is answered 401",
        arguments: [polling, pollingBySubrequest]
    )
    func orderedOnce(interceptor: Closure) async throws {
        let outcome = try await Self.outcome(by: interceptor) { request, _ in
            request.method == .post ? .status(202) : .status(401)
        }
        #expect(outcome.sends.filter { $0 == "POST /orders" }.count == 1)
        #expect(outcome.result.error?.kind == .status(401))
    }

    @Test("the question is asked again with the fresh credential, and the order is not placed again")
    func askedAgain() async throws {
        let outcome = try await Self.outcome(by: Self.polling) { request, isAccepted in
            guard request.url.path == "/orders/job" else { return .status(202) }
            return isAccepted ? .reply(text: "ok") : .status(401)
        }
        #expect(outcome.sends == ["POST /orders", "GET /orders/job", "GET /orders/job"])
        #expect(outcome.result.isOk)
        #expect(outcome.refreshes == 1)
    }

    @Test("a question that was the only thing sent is asked again with the fresh credential")
    func onlyQuestion() async throws {
        let outcome = try await Self.outcome(by: Self.askingOnly) { _, isAccepted in
            isAccepted ? .reply(text: "ok") : .status(401)
        }
        #expect(outcome.sends == ["GET /orders/job", "GET /orders/job"])
        #expect(outcome.result.isOk)
    }

    @Test("an order that is rejected itself is placed again, after a redirect within the origin as well")
    func rejectedItself() async throws {
        for location in [nil, "/v2/orders"] {
            let outcome = try await Self.outcome(by: Self.polling) { request, isAccepted in
                if let location, request.url.path == "/orders" {
                    return .status(307, header: ["Location": location])
                }
                return isAccepted ? .reply(text: "ok") : .status(401)
            }
            #expect(outcome.result.isOk)
            #expect(outcome.sends.count == (location == nil ? 2 : 4))
            #expect(outcome.refreshes == 1)
        }
    }

    /// A POST whose rejection is in its body, as GraphQL has it.
    struct Query: Request {
        typealias Result = String
        var method: HttpMethod { .post }
        var route: HttpRoute { ["graphql"] }

        func status(of response: HttpResponse<Data>) -> AnswerStatus {
            AnswerStatus(response.body == Data("UNAUTHENTICATED".utf8) ? 401 : response.status)
        }

        func decode(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
    }

    @Test("C1: a 200 that the request turns into a 401 of its own exchange has the attempt repeated, POST or not")
    func rejectionInBody() async throws {
        try await simulate { simulation in
            let world = TokenWorld(
                simulation,
                answer: { _, isAccepted in .reply(text: isAccepted ? "ok" : "UNAUTHENTICATED") }
            )
            let result = try await Query().schedule(with: world.service)
            #expect(result == "ok")
            #expect(world.transport.count == 2)
            #expect(world.server.refreshCount == 1)
        }
    }

    @Test("a 401 that an interceptor makes of nothing rejects nothing")
    func madeHere() async throws {
        let refusing = Closure { _, _, _ in HttpResponse(status: 401, body: Data()) }
        let outcome = try await Self.outcome(of: .get, by: refusing) { _, _ in .reply(text: "never") }
        #expect(outcome.result.error?.kind == .status(401))
        #expect((outcome.sends, outcome.refreshes) == ([], 0))
    }

    @Test("a 401 of another origin's subrequest says nothing of the credential, and carried none")
    func elsewhere() async throws {
        let asking = Closure { request, context, next in
            let other = try #require(URL(string: "https://other.example.com/flags"))
            let flags = try await context.send(HttpRequest(url: other))
            guard flags.status == 200 else { throw flags.failure }
            return try await next(request)
        }
        let outcome = try await Self.outcome(of: .get, by: asking) { request, _ in
            request.header[.authorization] == nil ? .status(401) : .reply(text: "a credential went elsewhere")
        }
        #expect(outcome.result.error?.kind == .status(401))
        #expect(outcome.sends == ["GET /flags"])
        #expect(outcome.refreshes == 0)
    }

    @Test("an authorizer puts the newest credential on a request and tags it, also outside of a call")
    func byHand() async throws {
        let coordinator = RefreshCoordinator(credential: "a") { _ in "b" }
        let authorizer = CallAuthorizer(coordinator) { $1.header[.authorization] = $0 }
        let plain = HttpRequest(url: try #require(URL(string: "https://api.example.com/")))
        var first = plain
        #expect(first.tags.credentialTag(of: authorizer.session) == nil)
        let isFirstAuthorized = try authorizer.authorize(&first)
        #expect(isFirstAuthorized && first.isAuthorized)
        #expect(first.header[.authorization] == "a")

        let tag = try #require(first.tags.credentialTag(of: authorizer.session))
        #expect(tag == CredentialTag(session: coordinator.session, generation: 1))
        #expect(first.tags.credentialTag(of: CallSession()) == nil)
        let fresh = try await authorizer.refresh(rejecting: tag)
        var second = plain
        let isSecondAuthorized = try authorizer.authorize(&second)
        #expect(isSecondAuthorized)
        #expect(second.header[.authorization] == "b")
        #expect(second.tags.credentialTag(of: authorizer.session) == fresh)
    }
}

extension HttpResponse<Data> {
    /// The failure that an interceptor makes of an answer.
    fileprivate var failure: HttpError { HttpError(.status(status), stage: .intercept, response: self) }
}
