/// Everything a demo server remembers, one request at a time.
actor NotesBackend {
    private var authorizationServer: AuthorizationServer
    private var routes: NotesRoutes
    private let plan: FaultPlan
    private var limiter: RequestLimiter?
    private var isDown = false
    private let start = ContinuousClock.now
    /// How far the server's time is ahead of the clock.
    private var advance: Duration = .zero

    private(set) var counters = ServerCounters()

    init(authorizationServer: AuthorizationServer, store: NoteStore, plan: FaultPlan, limit: RequestLimit?) {
        self.authorizationServer = authorizationServer
        self.routes = NotesRoutes(store: store)
        self.plan = plan
        self.limiter = limit.map(RequestLimiter.init)
    }

    /// Counts a request for notes in, and tells what is to go wrong with it.
    func arrive() -> FaultPlan.Fault? {
        counters.arrive()
        let fault = plan.fault(ofRequest: counters.requests - 1)
        return isDown ? .unavailable(retryAfter: nil) : fault
    }

    /// The limit's verdict on a request for notes; nil when there is no limit.
    func limit(_ request: ApiRequest, at now: Duration) -> RequestLimiter.Verdict? {
        let verdict = limiter?.ask(request.client, at: now)
        if verdict?.isTaken == false { counters.limited += 1 }
        return verdict
    }

    func setDown(_ isDown: Bool) {
        self.isDown = isDown
    }

    /// Counts a request for notes out.
    func leave(status: Int?) {
        counters.leave(status: status)
    }

    /// Answers a request for notes.
    func answer(_ request: ApiRequest) -> ApiAnswer {
        guard let bearer = request.bearer else {
            counters.unauthorized += 1
            return .unauthorized(hasToken: false)
        }
        let verdict = authorizationServer.tokens.verify(bearer, at: now)
        guard verdict == .valid else {
            counters.unauthorized += 1
            if verdict == .unknown { counters.unknownTokens += 1 }
            return .unauthorized(hasToken: true)
        }
        if let needed = NotesRoutes.requiredScope(of: request) {
            let scope = authorizationServer.tokens.scope(of: bearer)
            guard scope?.contains(needed) == true else { return .insufficientScope(needed) }
        }
        return routes.answer(request, counters: &counters)
    }

    /// Answers a request to the authorization server; nil for no answer at all.
    func answer(_ request: ApiRequest, at endpoint: OAuthEndpoint) -> ApiAnswer? {
        authorizationServer.answer(request, at: endpoint, now: now, counters: &counters)
    }

    var titles: [String] { routes.titles }

    /// Looks at the authorization server, or changes it, between two requests.
    func access<Value: Sendable>(
        _ body: @Sendable (_ server: inout AuthorizationServer, _ now: Duration) -> Value
    ) -> Value {
        body(&authorizationServer, now)
    }

    func revokeAccessTokens() {
        counters.revocations += 1
        authorizationServer.tokens.revokeAccessTokens()
    }

    func advanceTime(by duration: Duration) {
        advance += duration
    }

    private var now: Duration { start.duration(to: .now) + advance }
}
