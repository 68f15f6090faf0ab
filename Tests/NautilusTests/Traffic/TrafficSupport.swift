import Foundation
import NautilusTesting
import Testing

@testable import Nautilus

/// A request of the tests of this folder.
let trafficRequest: HttpRequest = {
    guard let url = URL(string: "https://api.example.com/things") else {
        preconditionFailure("the URL of the tests is broken")
    }
    return HttpRequest(url: url)
}()

/// Where it goes.
let trafficOrigin: HttpOrigin = {
    guard let origin = trafficRequest.origin else { preconditionFailure("the URL of the tests has no origin") }
    return origin
}()

extension HttpRequest {
    /// A GET to an origin of the tests.
    static func test(
        _ url: String = "https://api.example.com/things",
        header: HttpHeader = [:],
        priority: RequestPriority = .normal
    ) throws -> HttpRequest {
        HttpRequest(url: try #require(URL(string: url)), header: header, priority: priority)
    }
}

extension AttemptContext {
    /// The context of a first attempt.
    static func test(remaining: Duration? = nil) -> AttemptContext {
        AttemptContext(serviceOrigin: trafficOrigin, remaining: remaining)
    }
}

extension HttpResponse where Body == Data {
    static func test(_ status: Int = 200, header: HttpHeader = [:], url: String? = nil) -> HttpResponse {
        HttpResponse(status: status, header: header, body: Data(), url: url.flatMap { URL(string: $0) })
    }
}

extension HttpInterceptor {
    /// Sends one request past the interceptor, and says how it ended: `200`, `refused: …`, `cancelled`, or the error.
    func outcome(
        of request: HttpRequest,
        remaining: Duration? = nil,
        from server: () async throws -> HttpResponse<Data>
    ) async -> String {
        do {
            return
                "\(try await intercept(request, context: .test(remaining: remaining)) { _ in try await server() }.status)"
        } catch is CancellationError {
            return "cancelled"
        } catch let error as HttpError {
            if case .refused(let refusal) = error.kind { return "refused: \(refusal)" }
            return "\(error.kind)"
        } catch {
            return "\(error)"
        }
    }
}
