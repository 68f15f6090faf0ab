import NautilusCaching
import NautilusTesting

@testable import Nautilus
@testable import NautilusHTTP

extension AnyHttpService where RequestError == HttpError {
    /// A service whose calls share their exchanges.
    init(
        coalescingOn transport: ScriptedTransport,
        _ clock: ManualClock,
        by coalescing: RequestCoalescing = RequestCoalescing(),
        retrierFactory: any RetrierFactory = .never
    ) {
        self.init(
            apiUrl: "api.example.com",
            interceptors: [coalescing],
            retrierFactory: retrierFactory,
            transport: transport,
            clock: clock
        )
    }
}
