import Foundation
import Nautilus
import NautilusHTTP
import NautilusTesting
import Testing

/// A request of the tests of this folder.
package let trafficRequest: HttpRequest = {
    guard let url = URL(string: "https://api.example.com/things") else {
        preconditionFailure("the URL of the tests is broken")
    }
    return HttpRequest(url: url)
}()

/// Where it goes.
package let trafficOrigin: HttpOrigin = {
    guard let origin = trafficRequest.origin else { preconditionFailure("the URL of the tests has no origin") }
    return origin
}()

extension HttpRequest {
    /// A GET to an origin of the tests.
    package static func test(
        _ url: String = "https://api.example.com/things",
        header: HttpHeader = [:],
        priority: HttpRequest.Priority = .normal
    ) throws -> HttpRequest {
        HttpRequest(url: try #require(URL(string: url)), header: header, priority: priority)
    }
}

extension AttemptContext {
    /// The context of a first attempt.
    package static func test(remaining: Duration? = nil) -> AttemptContext {
        AttemptContext(serviceOrigin: trafficOrigin, remaining: remaining)
    }
}

extension HttpResponse where Body == Data {
    package static func test(_ status: Int = 200, header: HttpHeader = [:], url: String? = nil) -> HttpResponse {
        HttpResponse(status: status, header: header, body: Data(), url: url.flatMap { URL(string: $0) })
    }
}

extension NetworkInterceptor {
    /// Sends one request past the interceptor, and says how it ended: `200`, `refused: …`, `cancelled`, or the error.
    package func outcome(
        of request: HttpRequest,
        remaining: Duration? = nil,
        from server: @escaping @Sendable () async throws -> HttpResponse<Data>
    ) async -> String {
        await ending {
            try await intercept(
                request,
                context: .test(remaining: remaining),
                next: AttemptContext.Next { _ in try await server() }
            )
        }
    }
}

extension CallInterceptor {
    /// Likewise.
    package func outcome(
        of request: HttpRequest,
        from server: @escaping () async throws -> HttpResponse<Data>
    ) async -> String {
        let context = CallContext(serviceOrigin: trafficOrigin)
        let next = CallContext.Next { _ in try await server() }
        return await ending { try await intercept(request, context: context, next: next) }
    }
}

private func ending(of send: () async throws -> HttpResponse<Data>) async -> String {
    do {
        return "\(try await send().status)"
    } catch is CancellationError {
        return "cancelled"
    } catch let error as HttpError {
        if case .refused(let refusal) = error.kind { return "refused: \(refusal)" }
        return "\(error.kind)"
    } catch {
        return "\(error)"
    }
}

/// Has a credential from the fifth second on, as after a refresh.
package struct LateCredential: Retrier, CallCredential {
    package let clock: ManualClock

    package var credentials: [any CallCredential] { [self] }

    package func ready() async throws { try await clock.sleep(for: max(.zero, .seconds(5) - clock.now.offset)) }

    package func authorize(_ request: inout HttpRequest) throws -> Bool { clock.now.offset >= .seconds(5) }

    package func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision { .doNotRetry }

    package init(
        clock: ManualClock
    ) {
        self.clock = clock
    }
}

/// A service without credentials, and the same with a late one.
package func servicesWithLateCredential(
    behind interceptor: any HttpInterceptor,
    over transport: ScriptedTransport,
    on clock: ManualClock
) -> (AnyHttpService<HttpError>, late: AnyHttpService<HttpError>) {
    let service = AnyHttpService(
        apiUrl: "api.example.com",
        interceptors: [interceptor],
        transport: transport,
        clock: clock
    )
    return (service, service.with { $0.retrierFactory = AnyRetrierFactory { LateCredential(clock: clock) } })
}

/// The kind of the failure of one call; nil when it has none.
package func failureOfOneCall(of service: AnyHttpService<HttpError>) async -> FailureKind? {
    do throws(HttpError) {
        try await AnyRequest(.get, ["a"]).schedule(with: service)
        return nil
    } catch {
        return error.kind
    }
}

package func testOrigin(_ url: String = "https://api.example.com") throws -> HttpOrigin {
    try #require(URL(string: url).flatMap(HttpOrigin.init))
}
