import DemoServers
import Nautilus
import NautilusURLSession

/// The notes API, with what is to be shown. Made once for each run: what its interceptors know is in them.
struct NotesService {
    let server: DemoServer
    let interceptors: [any HttpInterceptor]
    private let accessToken: String

    init(_ server: DemoServer, interceptors: [any HttpInterceptor]) async {
        self.server = server
        self.interceptors = interceptors
        self.accessToken = await server.signIn().accessToken
    }

    /// More connections than a browser would open, and not more than the 256 files of a shell on macOS have room for.
    private static let wide = URLSessionTransport(configuration: .init(connectionsPerHost: 32))
}
extension NotesService: HttpService {
    var apiUrl: any UrlConvertible { server.origin + "/v1" }
    var header: HttpHeader { [.authorization: "Bearer \(accessToken)", "X-Client": "traffic"] }
    /// Without a budget, which would have most retries fail: what is compared is what the retries do.
    var retrierFactory: any RetrierFactory { BackoffRetrier.factory(.standard.with { $0.budget = .unlimited }) }
    var transport: any HttpTransport { Self.wide }
}

struct GetNote {
    let id: Int
}
extension GetNote: Request {
    typealias Result = Void
    var route: HttpRoute { ["notes", id] }
    var timeout: Duration? { .seconds(5) }
}

extension NotesService {
    /// Whether a call succeeds.
    func succeeds(_ number: Int) async -> Bool {
        do throws(HttpError) {
            try await GetNote(id: 1 + number % 30).schedule(with: self)
            return true
        } catch {
            return false
        }
    }
}
