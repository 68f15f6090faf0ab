extension HttpError {
    /// The failure of a call behind `error`: the error itself, or the one from which a service's
    /// ``HttpService/mapError(_:)`` made it during the operation under way.
    ///
    /// A service's own error type may keep nothing of the original error. A refresh looks here for the failure by which
    /// it decides whether the session goes on, so that it may send through any service.
    ///
    /// - Parameter error: An error that was thrown inside ``keeping(_:)``. A coordinator's refresh runs inside it.
    /// - Returns: Nil when no call of the operation has thrown an error of that type, when a call that throws such
    ///   errors has succeeded since, and when calls have thrown it for different reasons, since nothing tells which is
    ///   meant.
    public static func behind(_ error: any Error) -> HttpError? {
        error as? HttpError ?? MappedFailure.current?.failure(behind: error)
    }

    /// Runs an operation in which ``behind(_:)`` finds the failures of its calls.
    ///
    /// - Parameter operation: The operation, including its handling of failures.
    /// - Throws: The operation's error.
    public static func keeping<Value>(_ operation: () async throws -> Value) async rethrows -> Value {
        try await MappedFailure.$current.withValue(MappedFailure(), operation: operation)
    }
}

extension HttpService {
    /// The service's own error for a call's error.
    package func mapped(_ error: HttpError) -> RequestError {
        let mapped = mapError(error)
        if RequestError.self != HttpError.self { MappedFailure.current?.note(error, as: mapped) }
        return mapped
    }

    /// Notes that a call has succeeded, so that errors thrown from here on do not come from an earlier call.
    func noteSuccess() {
        if RequestError.self != HttpError.self { MappedFailure.current?.forget(RequestError.self) }
    }
}

/// The failures that services have mapped to their own errors during an operation, and that a thrown error may still
/// stand for.
private final class MappedFailure: Sendable {
    @TaskLocal static var current: MappedFailure?

    private let failures = Locked<[(failure: HttpError, mapped: any Error.Type)]>([])

    func note(_ failure: HttpError, as mapped: any Error) {
        failures.withLock { $0.append((failure, type(of: mapped))) }
    }

    func forget(_ mapped: any Error.Type) {
        failures.withLock { $0.removeAll { $0.mapped == mapped } }
    }

    /// The last failure mapped to the type of `error`; nil if failures of different kinds were mapped to it, since
    /// nothing tells which is meant.
    func failure(behind error: any Error) -> HttpError? {
        failures.withLock { failures in
            let candidates = failures.filter { $0.mapped == type(of: error) }.map(\.failure)
            guard let last = candidates.last, candidates.allSatisfy({ $0.kind == last.kind }) else { return nil }
            return last
        }
    }
}
