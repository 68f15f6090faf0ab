extension HttpError {
    /// The failure of a call that `error` stands for: the error itself, or that from which a service's
    /// ``HttpService/mapError(_:)`` made it in the operation under way.
    ///
    /// An error of a service's own may keep nothing of what it was made from. A refresh that decides by a failure whether
    /// a session goes on asks here, so that it does not matter through which service it sends.
    ///
    /// - Parameter error: An error that was thrown inside ``keeping(_:)``. A coordinator's refresh runs in one.
    /// - Returns: Nil when the last call that threw in the operation has not thrown an error of that type, and when a call
    ///   that throws such errors has succeeded since: then it is about something else.
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
    func mapped(_ error: HttpError) -> RequestError {
        let mapped = mapError(error)
        if RequestError.self != HttpError.self { MappedFailure.current?.note(error, as: mapped) }
        return mapped
    }

    /// A call has succeeded: an error that is thrown from here on does not come from an earlier call.
    func noteSuccess() {
        if RequestError.self != HttpError.self { MappedFailure.current?.forget(RequestError.self) }
    }
}

/// The last failure, among an operation's calls, that a service has made an error of its own of.
private final class MappedFailure: Sendable {
    @TaskLocal static var current: MappedFailure?

    private let last = Locked<(failure: HttpError, mapped: any Error.Type)?>(nil)

    func note(_ failure: HttpError, as mapped: any Error) {
        last.withLock { $0 = (failure, type(of: mapped)) }
    }

    func forget(_ mapped: any Error.Type) {
        last.withLock { last in
            if last?.mapped == mapped { last = nil }
        }
    }

    func failure(behind error: any Error) -> HttpError? {
        last.withLock { $0.flatMap { last in last.mapped == type(of: error) ? last.failure : nil } }
    }
}
