import Foundation
import Nautilus

/// Tells the server how long the client waits for its answer, so that it does not work in vain.
///
/// ```swift
/// var interceptors: [any HttpInterceptor] { [RequestTimeoutHeader()] }  // X-Request-Timeout: 1500
/// ```
/// The value is the shorter of the attempt's timeout and the time left until the call's deadline, in whole units,
/// rounded down so that the server gives up first. It is at least 1, since zero means "no limit" to some servers.
/// Without timeout and deadline nothing is added, and a field that the request already has stays.
///
/// The time for which a request was held back is subtracted.
public struct RequestTimeoutHeader: NetworkInterceptor {
    /// The unit of the field.
    public enum Unit: Hashable, Sendable {
        /// Milliseconds.
        case milliseconds
        /// Seconds.
        case seconds
    }

    private let name: HttpHeader.Name
    private let unit: Unit

    /// Creates the interceptor.
    ///
    /// - Parameters:
    ///   - name: The field's name. Default: `X-Request-Timeout`; there is no standard, so use the one that the server
    ///     reads.
    ///   - unit: The field's unit. Default: milliseconds, since nested calls often have less than a second left.
    public init(name: HttpHeader.Name = "X-Request-Timeout", unit: Unit = .milliseconds) {
        self.name = name
        self.unit = unit
    }

    /// Adds the field.
    public func intercept(
        _ request: HttpRequest,
        context: AttemptContext,
        next: Next
    ) async throws -> HttpResponse<Data> {
        // The time left when the attempt began, and the time left now, which in a test without a call is unknown.
        let limits = [context.timeout, context.remaining, CallDeadline.remaining].compactMap { $0 }
        guard let limit = limits.min(), request.header[name] == nil else { return try await next(request) }
        var request = request
        request.header[name] = String(max(1, unit.count(in: limit.clampedToCentury)))
        return try await next(request)
    }
}

extension RequestTimeoutHeader.Unit {
    fileprivate func count(in duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        switch self {
        case .milliseconds: return seconds * 1000 + attoseconds / 1_000_000_000_000_000
        case .seconds: return seconds
        }
    }
}
