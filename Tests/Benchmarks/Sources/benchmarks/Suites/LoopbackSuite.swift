import BenchmarkServer
import Foundation
import Nautilus

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The same request, decoded, through Nautilus and through bare `URLSession`, against one server.
enum LoopbackSuite {
    static func all(_ answer: ServerAnswer, port: Int) -> [any Measurable] {
        let bare = bare(port)
        return [("The defaults", defaults(port)), ("Everything on", everything(port))].flatMap { title, service in
            let nautilus = Subject("Nautilus") { _ = try await GetNote().schedule(with: service) }
            func comparison(_ name: String, _ metrics: [Metric], width: Int = 1) -> Comparison {
                Comparison(
                    group: "\(title), against a server on this machine, \(answer.title)",
                    name: name,
                    metrics: metrics,
                    subject: width == 1 ? nautilus : nautilus.atOnce(width),
                    baseline: width == 1 ? bare : bare.atOnce(width)
                )
            }
            return [
                comparison("one at a time", [.latency, .cpu, .allocations]),
                comparison("64 at once, per call", [.time, .cpu, .allocations], width: 64),
            ]
        }
    }

    /// Backoff with its budget, a timeout, JSON.
    static func defaults(_ port: Int) -> NotesService {
        NotesService(apiUrl: "http://127.0.0.1:\(port)/v1", transport: .platform)
            .with(BackoffRetrier.factory())
    }

    /// Authorization and two interceptors besides.
    private static func everything(_ port: Int) -> NotesService {
        defaults(port).with(AuthorizationRetrier.withBackoff()).withInterceptors(2)
    }

    /// The same by Foundation alone.
    static func bare(_ port: Int) -> Subject {
        Subject("URLSession.data(for:)") {
            guard let url = URL(string: "http://127.0.0.1:\(port)/v1/notes/7") else { return }
            var request = URLRequest(url: url)
            request.setValue("application/json", forHTTPHeaderField: "Accept")
            request.setValue("Notes/1.0", forHTTPHeaderField: "User-Agent")
            request.setValue("Bearer 0123456789", forHTTPHeaderField: "Authorization")
            let (data, response) = try await URLSession.shared.data(for: request)
            guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
            _ = try JSONDecoder().decode(Note.self, from: data)
        }
    }
}
