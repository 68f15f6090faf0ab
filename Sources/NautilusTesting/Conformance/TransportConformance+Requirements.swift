import Foundation
import Nautilus

extension TransportConformance {
    /// Sends one request on a new transport.
    func send(
        _ path: String,
        method: HttpMethod = .get,
        header: HttpHeader = [:],
        body: Data? = nil,
        through transport: (any HttpTransport)? = nil
    ) async throws -> HttpResponse<Data> {
        let request = try request(path, method: method, header: header, body: body)
        return try await (transport ?? makeTransport()).send(request, context: context())
    }

    /// A request to the server.
    func request(
        _ path: String,
        method: HttpMethod = .get,
        header: HttpHeader = [:],
        body: Data? = nil
    ) throws -> HttpRequest {
        guard let url = URL(string: path, relativeTo: origin)?.absoluteURL else {
            throw Failure(description: "The origin cannot be used.")
        }
        return HttpRequest(method: method, url: url, header: header, body: body.map { .data($0) } ?? .empty)
    }

    /// The context of a first attempt.
    func context(_ interruption: Interruption? = nil) throws -> AttemptContext {
        guard let serviceOrigin = HttpOrigin(origin) else { throw Failure(description: "The origin has no host.") }
        return AttemptContext(serviceOrigin: serviceOrigin, interruption: interruption)
    }

    /// Throws unless `actual` is `expected`.
    func expect<Value: Equatable>(_ actual: Value, is expected: Value, _ what: String) throws {
        guard actual != expected else { return }
        throw Failure(description: "Expected \(what) to be \(expected), found \(actual).")
    }

    /// Throws unless `body` throws a ``TransportError``, which is returned.
    func expectTransportError(_ what: String, from body: () async throws -> some Sendable) async throws
        -> TransportError
    {
        do {
            _ = try await body()
        } catch let error as TransportError {
            return error
        } catch {
            throw Failure(description: "Expected \(what) to throw a TransportError, caught \(type(of: error)).")
        }
        throw Failure(description: "Expected \(what) to throw a TransportError, but it succeeded.")
    }

    /// Throws unless awaiting `task` throws `CancellationError`.
    func expectCancellation(of task: Task<HttpResponse<Data>, any Error>, _ what: String) async throws {
        switch await task.result {
        case .failure(is CancellationError): return
        case .failure(let error):
            throw Failure(description: "Expected \(what) to throw CancellationError, caught \(type(of: error)).")
        case .success(let response):
            throw Failure(description: "Expected \(what) to throw CancellationError, got \(response.status).")
        }
    }

    /// A counter that no other check counts on: checks may run at once, also of several transports.
    func cachedPath() -> String { "/cached/\(UUID().uuidString)" }

    /// How often `path`, one of ``cachedPath()``, has been asked for, this time included.
    func count(of path: String, through transport: any HttpTransport) async throws -> Int {
        let body = try await send(path, through: transport).body
        guard let count = Int(String(decoding: body, as: UTF8.self)) else {
            throw Failure(description: "The body of /cached is not a number.")
        }
        return count
    }

    /// The body of `/large/{count}`.
    static func largeBody(_ count: Int) -> Data {
        let period = Data((0..<251).map { UInt8($0) })
        var body = Data(capacity: count + period.count)
        while body.count < count { body += period }
        return body.prefix(count)
    }
}
