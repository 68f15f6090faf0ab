import Nautilus

/// The API, as an app declares it.
struct NotesService {
    let coordinator: RefreshCoordinator<Token>
    let world: World
}
extension NotesService: HttpService {
    var apiUrl: any UrlConvertible { world.host + "/v1" }
    var transport: any HttpTransport { ServerTransport(server: world.server) }
    var clock: any Clock<Duration> { world.clock }
    var retrierFactory: any RetrierFactory {
        .composed(
            AuthorizationRetrier.factory(coordinator),
            BackoffRetrier.factory(
                .standard.with {
                    $0.gate = coordinator
                    $0.random = world.random
                }
            )
        )
    }
}
