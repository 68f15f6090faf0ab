/// Everything a demo server remembers, one request at a time.
actor NotesBackend {
    private var authority: TokenAuthority
    private var routes: NotesRoutes
    private let plan: FaultPlan
    private let start = ContinuousClock.now

    private(set) var counters = ServerCounters()

    init(authority: TokenAuthority, store: NoteStore, plan: FaultPlan) {
        self.authority = authority
        self.routes = NotesRoutes(store: store)
        self.plan = plan
    }

    /// Counts a request for notes in, and tells what is to go wrong with it.
    func arrive() -> FaultPlan.Fault? {
        counters.arrive()
        return plan.fault(ofRequest: counters.requests - 1)
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
        let verdict = authority.verify(bearer, at: now)
        guard verdict == .valid else {
            counters.unauthorized += 1
            if verdict == .unknown { counters.unknownTokens += 1 }
            return .unauthorized(hasToken: true)
        }
        return routes.answer(request, counters: &counters)
    }

    /// Answers at the token endpoint.
    func refresh(_ request: ApiRequest) -> ApiAnswer {
        TokenRoute.answer(request, from: &authority, at: now, counters: &counters)
    }

    var titles: [String] { routes.titles }

    func signIn(lifetime: Duration?) -> TokenPair {
        authority.signIn(at: now, lifetime: lifetime)
    }

    func revokeAccessTokens() {
        counters.revocations += 1
        authority.revokeAccessTokens()
    }

    func endAllFamilies() {
        authority.endAllFamilies()
    }

    private var now: Duration { start.duration(to: .now) }
}
