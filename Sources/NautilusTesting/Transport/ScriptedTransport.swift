import Foundation
import Nautilus

/// A transport that answers by a script and remembers every attempt: the server of a test, without a network.
///
/// ```swift
/// let transport = ScriptedTransport(.status(503), .json(note))  // replies, in the order of attempts
///
/// let server = ScriptedTransport { request, _ in  // a server that decides for itself
///     request.header[.authorization] == "Bearer new" ? .status(204) : .status(401)
/// }
/// server.on(.post, "/token", .json(token))  // a route's script goes before the general one
/// ```
/// Like a real transport it reads the body, takes any status for a success, and ends with `CancellationError` as soon
/// as its task is cancelled.
public final class ScriptedTransport: HttpTransport {
    /// The behaviour after the last reply of a script.
    public enum AfterLast: Hashable, Sendable {
        /// ``Exhausted``: a test knows how many attempts it expects.
        case fail
        /// The last reply again and again.
        case `repeat`
    }

    struct State: CountedState {
        var script: Script
        var routes: [(route: ScriptRoute, script: Script)] = []
        var attempts: [RecordedAttempt] = []
        var inFlight = 0
        var maxInFlight = 0
        var waiters = CountWaiters()

        var count: Int { attempts.count }
    }

    let state: Locked<State>
    private let clock: any Clock<Duration>
    private let watch: Stopwatch

    /// Creates a transport with a script.
    ///
    /// - Parameters:
    ///   - replies: One for each attempt, in order; a ``ScriptedReply/respond(_:)`` serves all that follow.
    ///   - afterLast: The answer to an attempt beyond them. Default: an error, since a test knows how many it expects.
    ///   - clock: The clock of delays and of starts. Default: real time, as a service's own default.
    public init(
        _ replies: ScriptedReply...,
        afterLast: AfterLast = .fail,
        clock: any Clock<Duration> = DefaultClock.current
    ) {
        self.state = Locked(State(script: Script(replies, afterLast: afterLast)))
        self.clock = clock
        self.watch = Stopwatch(clock)
    }

    /// Creates a transport that asks `responder` for every reply: a model of a server.
    ///
    /// - Parameters:
    ///   - clock: The clock of delays and of starts. Default: real time, as a service's own default.
    ///   - responder: Answers each attempt.
    public convenience init(
        clock: any Clock<Duration> = DefaultClock.current,
        responder: @escaping ScriptedReply.Responder
    ) {
        self.init(.respond(responder), clock: clock)
    }

    /// Gives a route a script of its own, which replaces the one it had.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The whole path of the URL, percent-encoded as it is sent: `/v1/notes/7`. A component `*` stands for
    ///     any one component. With a host before it, `staging.example.com/v1/notes/7`, it fits requests to that one
    ///     only. When several routes fit, the one added last is taken.
    ///   - replies: One for each attempt, in order.
    ///   - afterLast: The answer to an attempt beyond them. Default: an error.
    /// - Returns: The transport itself, to add the next route.
    @discardableResult
    public func on(
        _ method: HttpMethod,
        _ path: String,
        _ replies: ScriptedReply...,
        afterLast: AfterLast = .fail
    ) -> Self {
        setScript(Script(replies, afterLast: afterLast), for: ScriptRoute(method: method, path: path))
    }

    /// Has `responder` answer for a route; otherwise like ``on(_:_:_:afterLast:)``.
    @discardableResult
    public func on(_ method: HttpMethod, _ path: String, responder: @escaping ScriptedReply.Responder) -> Self {
        on(method, path, .respond(responder))
    }

    /// Answers by the script.
    ///
    /// - Throws: The script's error, ``Exhausted`` when the script is at its end, `CancellationError`.
    public func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        try await exchange(request, context) { response in
            response.replacingBody(try await response.body.collected(limit: .max))
        }
    }

    /// Answers by the script; the body comes while it is read.
    ///
    /// - Throws: The same as ``send(_:context:)``.
    public func stream(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<HttpBodyStream> {
        try await exchange(request, context) { $0 }
    }

    private func exchange<Body: Sendable>(
        _ request: HttpRequest,
        _ context: TransportContext,
        _ read: (HttpResponse<HttpBodyStream>) async throws -> HttpResponse<Body>
    ) async throws -> HttpResponse<Body> {
        let (index, reply, replyCount) = begin(request, context)
        do {
            try Task.checkCancellation()
            var request = request
            if let body = try await request.body.collected(limit: .max) {
                state.withLock { $0.attempts[index].body = body }
                request.body = .data(body)
            }
            try Task.checkCancellation()
            guard let reply else {
                let routes = state.withLock { $0.routes.map { "\($0.route.method) \($0.route.path)" } }
                throw Exhausted(request: request, replyCount: replyCount, routes: routes)
            }
            let response = try await read(perform(reply.step, request, context))
            end(index, .replied(status: response.status))
            return response
        } catch {
            end(index, error is CancellationError ? .cancelled : .failed(error))
            throw error
        }
    }

    private func perform(
        _ step: ScriptedReply.Step,
        _ request: HttpRequest,
        _ context: TransportContext
    ) async throws -> HttpResponse<HttpBodyStream> {
        switch step {
        case .respond(let status, let header, let body):
            return HttpResponse(status: status, header: header, body: body.stream(on: clock), url: request.url)
        case .json(let status, let header, let encode):
            let reply = ScriptedReply.reply(status: status, header: header, body: try encode(context.coders))
            return try await perform(reply.step, request, context)
        case .fail(let error):
            throw error
        case .delay(let duration, let then):
            try await clock.sleep(for: duration)
            return try await perform(then, request, context)
        case .hang:
            // A stream that is never fed ends only with the task.
            for await _ in AsyncStream<Never>(Never.self, { _ in }) {}
            throw CancellationError()
        case .ask(let responder):
            let reply = try await responder(request, context)
            try Task.checkCancellation()
            return try await perform(reply.step, request, context)
        }
    }

    private func setScript(_ script: Script, for route: ScriptRoute) -> Self {
        state.withLock { state in
            state.routes.removeAll { $0.route == route }
            state.routes.append((route: route, script: script))
        }
        return self
    }

    private func begin(_ request: HttpRequest, _ context: TransportContext) -> (Int, ScriptedReply?, Int) {
        let start = watch.elapsed
        let (index, reply, count, waiters) = state.withLock { state in
            state.attempts.append(
                RecordedAttempt(request: request, context: context, start: start, outcome: .inFlight)
            )
            state.inFlight += 1
            state.maxInFlight = max(state.maxInFlight, state.inFlight)
            // A server never learns of an attempt that was cancelled before: it takes no reply.
            let (reply, count) = Task.isCancelled ? (nil, 0) : state.nextReply(to: request)
            return (state.attempts.count - 1, reply, count, state.waiters.reached(state.count))
        }
        waiters.forEach { $0.resume() }
        return (index, reply, count)
    }

    private func end(_ index: Int, _ outcome: RecordedAttempt.Outcome) {
        let end = watch.elapsed
        state.withLock { state in
            state.attempts[index].outcome = outcome
            state.attempts[index].end = end
            state.inFlight -= 1
        }
    }
}

extension ScriptedTransport.State {
    /// The reply to `request`, nil when its script is exhausted, and how many replies that script has.
    fileprivate mutating func nextReply(to request: HttpRequest) -> (ScriptedReply?, Int) {
        guard let index = routes.lastIndex(where: { $0.route.matches(request) }) else {
            return (script.next(), script.replies.count)
        }
        return (routes[index].script.next(), routes[index].script.replies.count)
    }
}

extension ScriptedTransport {
    /// Every attempt so far, in the order of their starts.
    public var attempts: [RecordedAttempt] { state.withLock { $0.attempts } }

    /// How many attempts were started.
    public var count: Int { state.withLock { $0.count } }

    /// How many attempts are in flight now.
    public var inFlightCount: Int { state.withLock { $0.inFlight } }

    /// The most attempts that were in flight at the same time.
    public var maxInFlightCount: Int { state.withLock { $0.maxInFlight } }

    /// The attempts at one route, in the order of their starts; in `path`, a component `*` stands for any one
    /// component.
    public func attempts(at method: HttpMethod, _ path: String) -> [RecordedAttempt] {
        let route = ScriptRoute(method: method, path: path)
        return attempts.filter { route.matches($0.request) }
    }

    /// How many attempts were started at one route; in `path`, a component `*` stands for any one component.
    public func count(of method: HttpMethod, _ path: String) -> Int {
        attempts(at: method, path).count
    }

    /// Returns once at least `count` attempts were started, without any real time passing: then cancel, sign out,
    /// answer.
    ///
    /// A test that waits in vain says for what after 5 s, on standard error, and goes on waiting.
    ///
    /// - Throws: `CancellationError` when the task is or becomes cancelled.
    public func waitForAttempts(count: Int) async throws {
        try await state.waitForCount(count, of: "attempts")
    }
}

extension ScriptedTransport: Redacted {
    /// How much was sent: `ScriptedTransport: 3 attempts, 1 in flight`.
    public var description: String { "ScriptedTransport: \(count) attempts, \(inFlightCount) in flight" }

    /// Shows the attempts without their secrets, and no reply, which may be a token.
    public var customMirror: Mirror {
        Mirror(self, children: ["attempts": attempts])
    }
}

/// A list of replies, and how many of them have been given.
struct Script: Sendable {
    let replies: [ScriptedReply]
    let afterLast: ScriptedTransport.AfterLast
    private var used = 0

    init(_ replies: [ScriptedReply], afterLast: ScriptedTransport.AfterLast) {
        self.replies = replies
        self.afterLast = afterLast
    }

    /// The reply for one more attempt; nil when the script is exhausted.
    mutating func next() -> ScriptedReply? {
        defer { used += 1 }
        if used < replies.count, !replies[..<used].contains(where: \.isEndless) { return replies[used] }
        if let endless = replies.first(where: \.isEndless) { return endless }
        return afterLast == .repeat ? replies.last : nil
    }
}

/// A method and a path, after a host or for any, in which `*` stands for any one component.
struct ScriptRoute: Hashable, Sendable {
    let method: HttpMethod
    let path: String

    func matches(_ request: HttpRequest) -> Bool {
        guard method == request.method else { return false }
        let own = path.split(separator: "/", omittingEmptySubsequences: false)
        let host = path.hasPrefix("/") ? "" : request.url.host ?? ""
        let sent = (host + request.url.path(percentEncoded: true)).split(
            separator: "/",
            omittingEmptySubsequences: false
        )
        return own.count == sent.count && zip(own, sent).allSatisfy { $0 == "*" || $0 == $1 }
    }
}

extension ScriptedTransport {
    /// A ``ScriptedTransport`` was sent more attempts than its script has replies.
    public struct Exhausted: Error, CustomStringConvertible {
        /// The request that found no reply.
        public let request: HttpRequest
        /// How many replies the script had.
        public let replyCount: Int
        /// The routes that have scripts of their own, as `GET /notes/*`: a mistyped one fits no request.
        public var routes: [String] = []

        /// Names the request, the routes, and what to do.
        public var description: String {
            let scripts =
                routes.isEmpty ? "" : " The routes with scripts of their own are \(routes.joined(separator: ", "))."
            if replyCount == 0, !routes.isEmpty {
                return "No route fits \(request), and there are no replies for other requests.\(scripts)"
            }
            return """
                The script has \(replyCount) replies and all are used, but \(request) was sent.\(scripts) \
                Add a reply, or pass `afterLast: .repeat`.
                """
        }
    }
}
