import Nautilus
import NautilusOAuth
import NotesAPI

/// The notes API in one environment, authorized by OAuth: the requests and errors of `NotesService`, and a session that
/// outlives the process and is shared among processes.
///
/// ```swift
/// let notes = OAuthNotesService(.staging, client: OAuthClient(id: "notes-app"), store: FileStore(folder: folder))
/// try await notes.signIn { print("Enter \($0.userCode) at \($0.verificationUri)") }
/// let page = try await ListNotes().schedule(with: notes)  // throws NotesError
/// ```
public struct OAuthNotesService {
    /// Where the calls go.
    public let environment: NotesEnvironment
    /// Where tokens are refreshed and revoked.
    public let endpoint: TokenEndpoint
    /// The session of the user who is signed in.
    public let session: OAuthSession
    /// The transport that moves bytes.
    public let transport: any HttpTransport
    /// The clock for measuring time and for sleeping.
    public let clock: any Clock<Duration>
    /// The observer of attempts and decisions.
    public let observer: any CallObserver

    /// Creates a service with a session of its own. Nothing is read or sent before it is used.
    ///
    /// - Parameters:
    ///   - environment: Where the calls go, and the server that issues their tokens.
    ///   - client: The app, as it is registered there.
    ///   - store: Where the session is kept. Default: in memory, so that nothing is written unless it is asked for.
    ///   - account: The account of the session, where an app has several. Default: empty, for one account at a time.
    ///   - transport: The transport that moves bytes. Default: URL loading.
    ///   - clock: The clock for measuring time and for sleeping. Default: the continuous clock.
    ///   - observer: The observer of attempts, decisions and refreshes. Default: none.
    public init(
        _ environment: NotesEnvironment,
        client: OAuthClient,
        store: any CredentialStore = MemoryStore(),
        account: String = "",
        transport: any HttpTransport = .platform,
        clock: any Clock<Duration> = ContinuousClock(),
        observer: any CallObserver = .none
    ) {
        let endpoint = TokenEndpoint(
            server: environment.authorizationServer,
            client: client,
            transport: transport,
            clock: clock
        )
        self.environment = environment
        self.endpoint = endpoint
        self.session = OAuthSession(endpoint: endpoint, store: store, account: account, observer: observer)
        self.transport = transport
        self.clock = clock
        self.observer = observer
    }
}
extension OAuthNotesService: HttpService {
    /// The first version of the API.
    public var apiUrl: any UrlConvertible { environment.origin + "/v1" }
    /// The format that the app reads, and the environment that it believes to talk to.
    public var header: HttpHeader { [.accept: "application/json", "X-Notes-Environment": environment.name] }
    /// All that authorization needs.
    public var retrierFactory: any RetrierFactory { session.retrierFactory }
    /// In the app's words.
    public func mapError(_ error: HttpError) -> NotesError { NotesError(oauth: error) }
}
