import Foundation
import Nautilus
import NautilusCaching

/// The cost of an answer without the server, and of looking for one when there is none.
enum CacheSuite {
    static let all: [any Measurable] = [
        Comparison(
            group: "Answers without the server",
            name: "caching hook, hit",
            metrics: [.cpu, .allocations],
            subject: Subject("caching hook, hit") {
                _ = try await GetCached().schedule(with: RememberingService.shared)
            },
            baseline: Subject("a call, answered at once") {
                _ = try await GetBytes().schedule(with: NotesService.instant)
            }
        ),
        call("HTTP cache, hit", HttpCache(), "max-age=31536000"),
        call("HTTP cache, nothing may be stored", HttpCache(), "no-store"),
        call("coalescing, nobody else asks", RequestCoalescing(), "no-store"),
    ]

    private static func call(_ name: String, _ interceptor: any HttpInterceptor, _ control: String) -> Comparison {
        let date = HttpHeader.Field(name: "Cache-Control", value: control)
        let transport = InstantTransport(adding: HttpHeader([date]), dated: false)
        let bare = NotesService(apiUrl: "https://api.example.com/v1", transport: transport)
        let service = bare.with([interceptor])
        return Comparison(
            group: "Answers without the server",
            name: name,
            metrics: [.cpu, .allocations],
            subject: Subject(name) { _ = try await GetBytes().schedule(with: service) },
            baseline: Subject("a call, answered at once") { _ = try await GetBytes().schedule(with: bare) }
        )
    }
}

/// A request that a hook remembers.
private struct GetCached: Request, Hashable {
    typealias Result = Data
    var route: HttpRoute { ["notes", 7] }
}

private struct RememberingService: HttpService {
    static let shared = RememberingService()

    let hook: any ServiceHook = CachingServiceHook(for: .seconds(3_600), account: { "" })
    let transport: any HttpTransport = InstantTransport()
    var apiUrl: any UrlConvertible { "https://api.example.com/v1" }
}
