import Nautilus

/// The notes API in one environment, with one user's session.
///
/// ```swift
/// let notes = NotesService(.staging)
/// try notes.signIn(token)
/// let page = try await ListNotes().schedule(with: notes)  // throws NotesError
/// ```
/// A value that holds the session by reference: copies share it, two services made separately do not.
public struct NotesService {
    /// A token of another environment was offered; it was not sent anywhere.
    public struct WrongEnvironment: Error, CustomStringConvertible {
        /// Names the token's environment and this service's.
        public let description: String
    }

    /// Where the calls go.
    public let environment: NotesEnvironment
    /// The transport that moves bytes.
    public let transport: any HttpTransport
    /// The clock for measuring time and for sleeping.
    public let clock: any Clock<Duration>
    /// The observer of attempts and decisions.
    public let observer: any CallObserver
    private let coordinator: RefreshCoordinator<Token>
    private let backoff: Backoff
    private let maxAttemptsOfBackoff: Int
    private let budget: RetryBudgetScope

    /// Creates a service without a signed-in user.
    ///
    /// - Parameters:
    ///   - environment: Where the calls go.
    ///   - backoff: The delays between attempts. Default: the framework's.
    ///   - maxAttempts: The most attempts of a call, those that a new token caused not counted. Default: 4, the
    ///     framework's.
    ///   - budget: The bound on the retries of all calls together, also of requests for new tokens. A retry with a new
    ///     token costs nothing. Default: one for each origin, the framework's.
    ///   - transport: The transport that moves bytes. Default: URL loading.
    ///   - clock: The clock for measuring time and for sleeping. Default: the continuous clock.
    ///   - observer: The observer of attempts and decisions. Default: none.
    public init(
        _ environment: NotesEnvironment,
        backoff: Backoff = .exponential(),
        maxAttempts: Int = 4,
        budget: RetryBudgetScope = .perOrigin,
        transport: any HttpTransport = .platform,
        clock: any Clock<Duration> = ContinuousClock(),
        observer: any CallObserver = .none
    ) {
        let tokens = TokenEndpoint(environment: environment, budget: budget, transport: transport, clock: clock)
        self.environment = environment
        self.backoff = backoff
        self.maxAttemptsOfBackoff = maxAttempts
        self.budget = budget
        self.transport = transport
        self.clock = clock
        self.observer = observer
        self.coordinator = RefreshCoordinator(lifetime: { $0.lifetime }, clock: clock, observer: observer) { token in
            try await tokens.refresh(token)
        }
    }
}
extension NotesService: HttpService {
    /// The first version of the API.
    public var apiUrl: any UrlConvertible { environment.origin + "/v1" }
    /// The format that the app reads, and the environment that it believes to talk to.
    public var header: HttpHeader { [.accept: "application/json", "X-Notes-Environment": environment.name] }

    /// A rejected token is replaced; what passes with time is retried, but not while a token is being replaced.
    public var retrierFactory: any RetrierFactory {
        .composed(
            AuthorizationRetrier.factory(coordinator),
            BackoffRetrier.factory(
                .standard.with {
                    $0.backoff = backoff
                    $0.maxAttempts = maxAttemptsOfBackoff
                    $0.budget = budget
                    $0.gate = coordinator
                }
            )
        )
    }

    /// In the app's words.
    public func mapError(_ error: HttpError) -> NotesError { NotesError(error) }
}

extension NotesService {
    /// Starts a session with a token of this environment.
    ///
    /// - Throws: ``WrongEnvironment``.
    public func signIn(_ token: Token) throws(WrongEnvironment) {
        guard token.environment == environment else {
            throw WrongEnvironment(
                description: "A token of \(token.environment) was offered to \(environment); sign in there instead."
            )
        }
        coordinator.signIn(token)
    }

    /// Ends the session; calls fail until somebody signs in.
    public func signOut() {
        coordinator.signOut()
    }

    /// The events of the session: subscribe to store refreshed tokens, and to ask for a sign-in when one has expired.
    public var sessionEvents: AsyncStream<RefreshEvent> {
        coordinator.events
    }

    /// The present token, to store it; nil when nobody is signed in.
    public var token: Token? {
        coordinator.current?.credential
    }
}
