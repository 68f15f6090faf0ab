import Foundation
import Nautilus

/// A service at `url` on the transport under test, which tries three times without a delay.
///
/// - Parameter numbered: Whether the field `X-Attempt` tells the number of the attempt.
func service(_ url: URL, numbered: Bool = false) -> AnyHttpService<HttpError> {
    AnyHttpService(
        apiUrl: url,
        interceptors: numbered ? [AttemptNumber()] : [],
        retrierFactory: BackoffRetrier.factory(
            .standard.with {
                $0.backoff = .constant(.zero)
                $0.maxAttempts = 3
                $0.budget = .unlimited
            }
        ),
        transport: TransportUnderTest.make()
    )
}

/// Tells the server which attempt it is.
private struct AttemptNumber: NetworkInterceptor {
    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data> {
        var request = request
        request.header["X-Attempt"] = "\(context.number)"
        return try await next(request)
    }
}
