import Foundation
import Nautilus

/// The transport that the suites of every transport are run on here.
enum TransportUnderTest {
    /// Whether there are a libcurl that takes everything but streams over HTTP/2, and a server to try it with.
    static let isAvailable: Bool = {
        guard CurlTransport.http2Limitation == nil, let python = Http2Gateway.python else { return false }
        let process = Process()
        process.executableURL = python
        process.arguments = ["-c", "import h2"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// One with connections of its own; nil for the default.
    static func make(responseLimit: Int? = nil, connectionsPerHost: Int? = nil) -> any HttpTransport {
        var configuration = CurlTransport.Configuration(httpVersion: .http2, connectTimeout: .seconds(120))
        if let responseLimit { configuration.responseLimit = responseLimit }
        if let connectionsPerHost {
            configuration.connectionsPerHost = connectionsPerHost
            configuration.streamsPerHost = connectionsPerHost
        }
        return OverHttp2(configuration)
    }
}

/// A transport that sends everything to the gateway, and says of the answers that they came from where they were asked for.
private struct OverHttp2: InterruptibleTransport {
    private let transport: Task<CurlTransport, any Error>

    init(_ configuration: CurlTransport.Configuration) {
        transport = Task {
            var configuration = configuration
            configuration.trust = try await .init(roots: Http2Gateway.shared.value.certificate)
            return CurlTransport(configuration: configuration)
        }
    }

    func send(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<Data> {
        var response = try await transport.value.send(redirected(request), context: context)
        response.url = request.url
        return response
    }

    func stream(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<HttpBodyStream> {
        var response = try await transport.value.stream(redirected(request), context: context)
        response.url = request.url
        return response
    }

    private func redirected(_ request: HttpRequest) async throws -> HttpRequest {
        guard var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true), let port = parts.port else {
            throw URLError(.badURL)
        }
        (parts.scheme, parts.host, parts.port) = ("https", "127.0.0.1", try await Http2Gateway.shared.value.port)
        guard let url = parts.url else { throw URLError(.badURL) }
        var redirected = request
        redirected.url = url
        redirected.header[Http2Gateway.field] = "\(port)"
        return redirected
    }
}
