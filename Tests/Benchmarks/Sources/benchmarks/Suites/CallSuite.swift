import Foundation
import Nautilus

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The cost of the framework itself: calls through a transport that returns at once.
enum CallSuite {
    static let all: [any Measurable] = [
        call("nothing on", GetBytes(), .instant),
        call("timeout", GetBytes(timeout: .seconds(60)), .instant),
        call("deadline", GetBytes(deadline: .seconds(600)), .instant),
        call("timeout and deadline", GetBytes(timeout: .seconds(60), deadline: .seconds(600)), .instant),
        call("five interceptors", GetBytes(), .instant.withInterceptors(5)),
        call("backoff retrier", GetBytes(), .instant.with(BackoffRetrier.factory())),
        call(
            "backoff retrier, no budget",
            GetBytes(),
            .instant.with(BackoffRetrier.factory(.standard.with { $0.budget = .unlimited }))
        ),
        call("authorization and backoff", GetBytes(), .instant.with(AuthorizationRetrier.withBackoff())),
        call("everything, decoding JSON", GetNote(), everything),
    ]

    private static let everything = NotesService.instant
        .with(AuthorizationRetrier.withBackoff())
        .withInterceptors(2)

    private static func call<R: Request>(_ name: String, _ request: R, _ service: NotesService) -> Comparison {
        Comparison(
            group: "A call through a transport that returns at once",
            name: name,
            metrics: [.cpu, .allocations],
            subject: Subject(name) { _ = try await request.schedule(with: service) },
            baseline: urlRequest
        )
    }

    /// The cost to every client on Foundation before anything is sent.
    private static let urlRequest = Subject("making a URLRequest, 3 fields") {
        guard let url = URL(string: "https://api.example.com/v1/notes/7") else { return }
        var request = URLRequest(url: url)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue("Notes/1.0", forHTTPHeaderField: "User-Agent")
        request.setValue("Bearer 0123456789", forHTTPHeaderField: "Authorization")
    }
}
