import Nautilus
import NautilusTraffic

/// A service as apps declare it, with everything switchable.
struct NotesService {
    let apiUrl: any UrlConvertible
    let header: HttpHeader = ["Accept": "application/json", "User-Agent": "Notes/1.0"]
    var interceptors: [any HttpInterceptor] = []
    var retrierFactory: any RetrierFactory = .never
    let transport: any HttpTransport

    init(apiUrl: String, transport: any HttpTransport) {
        self.apiUrl = apiUrl
        self.transport = transport
    }

    /// A service whose answers come at once.
    static let instant = NotesService(apiUrl: "https://api.example.com/v1", transport: InstantTransport())
}
extension NotesService: HttpService {
    /// This service with interceptors that do nothing but pass on.
    func withInterceptors(_ count: Int) -> NotesService {
        var service = self
        service.interceptors = Array(repeating: PassOn(), count: count)
        return service
    }

    /// This service with these interceptors.
    func with(_ interceptors: [any HttpInterceptor]) -> NotesService {
        var service = self
        service.interceptors = interceptors
        return service
    }

    /// This service with second sends.
    func with(_ hedging: Hedging) -> NotesService {
        var service = self
        service.interceptors.append(hedging)
        return service
    }

    /// This service with another retrier.
    func with(_ retrierFactory: any RetrierFactory) -> NotesService {
        var service = self
        service.retrierFactory = retrierFactory
        return service
    }
}
