import Foundation
import Nautilus

/// An interceptor that does nothing: its cost is the chain's.
struct PassOn: CallInterceptor {
    func intercept(_ request: HttpRequest, context: CallContext, next: Next) async throws -> HttpResponse<Data> {
        try await next(request)
    }
}
