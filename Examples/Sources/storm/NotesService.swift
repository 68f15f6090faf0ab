import Nautilus
import NautilusFleets

/// The API that the fleet calls: a service as any other, its transport and its clock the client's.
struct NotesService {
    let retrierFactory: any RetrierFactory
    let transport: any HttpTransport
    let clock: any Clock<Duration>

    init(_ client: FleetClient, retrierFactory: any RetrierFactory) {
        self.retrierFactory = retrierFactory
        self.transport = client.transport
        self.clock = client.clock
    }
}
extension NotesService: HttpService {
    var apiUrl: any UrlConvertible { "api.example.com/v1" }
}

/// A person waits a second for it, and no longer.
struct GetNote {
    let id: Int
}
extension GetNote: Request {
    typealias Result = Void
    var route: HttpRoute { ["notes", id] }
    var timeout: Duration? { .seconds(1) }
}
