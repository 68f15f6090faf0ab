import Foundation

/// Placeholder until the transport lands.
public final class URLSessionTransport: HttpTransport {
    /// Shared.
    public static let shared = URLSessionTransport()
    /// Sends.
    public func send(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<Data> {
        throw TransportError.failed(.unknown, delivery: .notSent, reason: "placeholder")
    }
}
