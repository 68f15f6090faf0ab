import AsyncHTTPClient
import AsyncHTTPClientTransport
import BenchmarkServer
import Foundation
import NIOPosix
import Nautilus
import NautilusCurl
import NautilusURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One way to make the same call, decoded.
struct Subject: Sendable {
    let name: String
    /// Makes this many calls by so many tasks, and measures them.
    let sample: @Sendable (_ calls: Int, _ width: Int) async throws -> Sample

    private init(name: String, call: @escaping @Sendable () async throws -> Void) {
        self.name = name
        sample = { calls, width in
            try await Sample(calls: calls) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<width {
                        group.addTask { for _ in 0..<(calls / width) { try await call() } }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    private init(_ outsider: Outsider, _ url: URL, connections: Int) {
        name = outsider.name
        sample = { try outsider.sample(url.absoluteString, calls: $0, atOnce: $1, connections: connections) }
    }

    /// Raw `URLSession` first, the bare client second: the others are compared with these. All have as many connections.
    static func all(port: Int, connections: Int) throws -> [Subject] {
        guard let url = URL(string: "http://127.0.0.1:\(port)/v1/notes/7") else { throw URLError(.badURL) }
        // One thread for the connections of both: which of several a connection gets is luck, and the same client then
        // takes a fifth more processor time in one run than in the next.
        let eventLoopGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let transport = AsyncHTTPClientTransport(
            configuration: .init(connectionsPerHost: connections, eventLoopGroup: eventLoopGroup)
        )
        // As the transport has it.
        var configuration = HTTPClient.Configuration(decompression: .enabled(limit: .none))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        let client = HTTPClient(eventLoopGroupProvider: .shared(eventLoopGroup), configuration: configuration)
        let settings = URLSessionConfiguration.default
        settings.httpMaximumConnectionsPerHost = connections
        let session = URLSession(configuration: settings)
        let onSession = URLSessionTransport(configuration: .init(connectionsPerHost: connections))
        return [
            Subject(name: "URLSession.data(for:)") { try await data(of: url, by: session) },
            Subject(name: "HTTPClient.execute(_:timeout:)") { try await bare(url.absoluteString, client) },
            nautilus("Nautilus on async-http-client", port, transport),
            nautilus("Nautilus, as it comes", port, asItComes(connections: connections)),
            nautilus("Nautilus on URLSession", port, onSession),
        ] + Outsider.all().map { Subject($0, url, connections: connections) }
    }

    /// The transport of the platform, with so many connections.
    private static func asItComes(connections: Int) -> any HttpTransport {
        #if os(Linux)
            CurlTransport(configuration: .init(connectionsPerHost: connections))
        #else
            URLSessionTransport(configuration: .init(connectionsPerHost: connections))
        #endif
    }

    private static func data(of url: URL, by session: URLSession) async throws {
        var request = URLRequest(url: url)
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await session.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
        _ = try JSONDecoder().decode(Note.self, from: data)
    }

    private static func bare(_ url: String, _ client: HTTPClient) async throws {
        var request = HTTPClientRequest(url: url)
        for (name, value) in fields { request.headers.add(name: name, value: value) }
        let response = try await client.execute(request, timeout: .seconds(60))
        guard response.status == .ok else { throw URLError(.badServerResponse) }
        let body = try await response.body.collect(upTo: 1 << 20)
        _ = try JSONDecoder().decode(Note.self, from: Data(body.readableBytesView))
    }

    private static func nautilus(
        _ name: String,
        _ port: Int,
        _ transport: any HttpTransport
    ) -> Subject {
        let service = Notes(apiUrl: "http://127.0.0.1:\(port)/v1", transport: transport)
        return Subject(name: name) { _ = try await GetNote().schedule(with: service) }
    }

    fileprivate static let fields = [
        ("Accept", "application/json"), ("User-Agent", "Notes/1.0"), ("Authorization", "Bearer 0123456789"),
    ]
}

private struct GetNote {}
extension GetNote: JsonRequest {
    typealias Result = Note
    var route: HttpRoute { ["notes", 7] }
}

private struct Notes {
    let apiUrl: any UrlConvertible
    let header = HttpHeader(
        Subject.fields.map { HttpHeader.Field(name: HttpHeader.Name($0.0), value: $0.1) }
    )
    let retrierFactory = BackoffRetrier.factory()
    let transport: any HttpTransport
}
extension Notes: HttpService {}
