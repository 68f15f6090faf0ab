import Foundation
import Nautilus

/// A call interceptor from a closure.
package struct ClosureInterceptor: CallInterceptor {
    private let handle: @Sendable (HttpRequest, CallContext, Next) async throws -> HttpResponse<Data>

    package init(handle: @escaping @Sendable (HttpRequest, CallContext, Next) async throws -> HttpResponse<Data>) {
        self.handle = handle
    }

    package func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data>
    {
        try await handle(request, context, next)
    }
}
