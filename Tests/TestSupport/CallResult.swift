import Nautilus

/// How a call has ended whose result is a text.
package typealias CallResult = Result<String, HttpError>

extension Request where Result == String {
    /// One call, as its outcome.
    package func result<S: HttpService>(with service: S) async -> CallResult where S.RequestError == HttpError {
        do throws(HttpError) {
            return .success(try await schedule(with: service))
        } catch {
            return .failure(error)
        }
    }
}

/// Calls that are made at once, in the order in which they were started.
package func atOnce(
    _ count: Int,
    _ call: @escaping @Sendable (_ index: Int) async -> CallResult
) async -> [CallResult] {
    await withTaskGroup(of: (Int, CallResult).self) { group in
        for index in 0..<count { group.addTask { (index, await call(index)) } }
        var results: [(Int, CallResult)] = []
        for await result in group { results.append(result) }
        return results.sorted { $0.0 < $1.0 }.map(\.1)
    }
}

extension CallResult {
    /// The text; nil for a failure.
    package var text: String? { try? get() }
    package var isOk: Bool { text == "ok" }
    /// Nil for a success.
    package var error: HttpError? {
        if case .failure(let error) = self { error } else { nil }
    }
    /// The coordinator's error underneath; nil for a success, and for another error.
    package var refreshError: RefreshError? { error?.underlying as? RefreshError }
    package var isSuperseded: Bool {
        if case .superseded? = refreshError { true } else { false }
    }
    package var isSignedOut: Bool {
        if case .signedOut? = refreshError { true } else { false }
    }
}

extension [CallResult] {
    /// How many have succeeded.
    package var okCount: Int { count { $0.isOk } }
}

extension BackoffRetrier.Configuration {
    /// Retries at once, as often as it may: for tests of something else. The usual budget is shared by the whole process,
    /// all tests included.
    package static var atOnce: BackoffRetrier.Configuration {
        .standard.with {
            $0.backoff = .constant(.zero)
            $0.budget = .unlimited
        }
    }
}
