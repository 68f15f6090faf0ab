@testable import Nautilus

/// Stamps what a user's token would be, further in than any interceptor looks.
struct UserStamp: Retrier {
    let user: Locked<String?>

    mutating func prepare(_ httpRequest: inout HttpRequest, context: AttemptContext) async throws {
        if let user = user.withLock({ $0 }) { httpRequest.header[.authorization] = "Bearer \(user)" }
    }

    mutating func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision { false }

    static func factory(_ user: Locked<String?>) -> AnyRetrierFactory { AnyRetrierFactory { UserStamp(user: user) } }
}
