extension HttpError {
    /// The failure of a call that `error` stands for: the error itself, or that from which a service's
    /// ``HttpService/mapError(_:)`` made it in the operation under way.
    ///
    /// An error of a service's own may keep nothing of what it was made from. A refresh that decides by a failure
    /// whether a session goes on asks here, so that it does not matter through which service it sends.
    ///
    /// - Parameter error: An error that was thrown inside ``keeping(_:)``. A coordinator's refresh runs in one.
    /// - Returns: Nil when no call of the operation has thrown an error of that type, when a call that throws such
    ///   errors has succeeded since, and when several have thrown it for different reasons: which of them is meant,
    ///   nothing tells.
    public static func behind(_ error: any Error) -> HttpError? {
        error as? HttpError ?? MappedFailure.current?.failure(behind: error)
    }

    /// Runs an operation in which ``behind(_:)`` finds the failures of its calls.
    ///
    /// - Parameter operation: The operation, with all that it does about a failure.
    /// - Throws: The operation's error.
    public static func keeping<Value>(_ operation: () async throws -> Value) async rethrows -> Value {
        try await MappedFailure.$current.withValue(MappedFailure(), operation: operation)
    }
}

extension HttpService {
    /// The service's own error in the place of a call's.
    package func mapped(_ error: HttpError) -> RequestError {
        let mapped = mapError(error)
        if RequestError.self != HttpError.self { MappedFailure.current?.note(error, as: mapped) }
        return mapped
    }

    /// A call has succeeded: an error that is thrown from here on does not come from an earlier call.
    func noteSuccess() {
        if RequestError.self != HttpError.self { MappedFailure.current?.forget(RequestError.self) }
    }
}

/// The failures of an operation's calls that services have made errors of their own of, as far as they may be meant by
/// an error that is thrown.
private final class MappedFailure: Sendable {
    @TaskLocal static var current: MappedFailure?

    private let failures = Locked<[(failure: HttpError, mapped: any Error.Type)]>([])

    func note(_ failure: HttpError, as mapped: any Error) {
        failures.withLock { $0.append((failure, type(of: mapped))) }
    }

    func forget(_ mapped: any Error.Type) {
        failures.withLock { $0.removeAll { $0.mapped == mapped } }
    }

    /// The last one, unless others of its type have come to something else: which of them is meant, nothing tells.
    func failure(behind error: any Error) -> HttpError? {
        failures.withLock { failures in
            let candidates = failures.filter { $0.mapped == type(of: error) }.map(\.failure)
            guard let last = candidates.last, candidates.allSatisfy({ $0.kind == last.kind }) else { return nil }
            return last
        }
    }
}
