import Foundation
import Nautilus

/// An interceptor of one's own, in any stage.
package struct OwnNetworkInterceptor: NetworkInterceptor {
    package var networkStage: InterceptorTier.NetworkStage = .changing
    package let handle: @Sendable (HttpRequest, AttemptContext, Next) async throws -> HttpResponse<Data>

    package func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<
        Data
    > {
        try await handle(request, context, next)
    }

    package init(
        networkStage: InterceptorTier.NetworkStage = .changing,
        handle: @escaping @Sendable (HttpRequest, AttemptContext, Next) async throws -> HttpResponse<Data>
    ) {
        (self.networkStage, self.handle) = (networkStage, handle)
    }
}
