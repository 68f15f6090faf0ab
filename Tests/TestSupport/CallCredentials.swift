import Nautilus

/// A credential that is always there, written by a closure; it does not tag the request.
package struct WrittenCredential: CallCredential {
    package let session: CallSession
    private let write: @Sendable (inout HttpRequest) throws -> Void

    private static let unending = CallSession()

    /// - Parameter session: Default: one that does not end.
    package init(
        in session: CallSession = unending,
        write: @escaping @Sendable (inout HttpRequest) throws -> Void
    ) {
        (self.session, self.write) = (session, write)
    }

    package func ready() async throws {}

    package func authorize(_ request: inout HttpRequest) throws -> Bool {
        try write(&request)
        return true
    }
}

/// A credential that each request has to wait for; one for each call.
package struct AwaitedCredential: CallCredential {
    /// How many have waited and not been authorized yet.
    private let waited = Locked(0)
    private let wait: @Sendable () async throws -> Void
    private let concerns: @Sendable (HttpRequest) -> Bool
    private let write: @Sendable (inout HttpRequest) throws -> Void

    /// - Parameters:
    ///   - wait: The wait of one request.
    ///   - concerns: Which requests have to wait. Default: all.
    ///   - write: Default: it writes nothing.
    package init(
        wait: @escaping @Sendable () async throws -> Void,
        concerning concerns: @escaping @Sendable (HttpRequest) -> Bool = { _ in true },
        write: @escaping @Sendable (inout HttpRequest) throws -> Void = { _ in }
    ) {
        (self.wait, self.concerns, self.write) = (wait, concerns, write)
    }

    package func ready() async throws {
        try await wait()
        waited.withLock { $0 += 1 }
    }

    package func authorize(_ request: inout HttpRequest) throws -> Bool {
        if concerns(request) {
            let hasWaited = waited.withLock { waited in
                defer { waited = max(0, waited - 1) }
                return waited > 0
            }
            guard hasWaited else { return false }
        }
        try write(&request)
        return true
    }
}

extension AnyRetrierFactory {
    /// Makes retriers that authorize with a credential, and never retry.
    ///
    /// - Parameter credential: Read for each call.
    package static func authorizing(
        with credential: @autoclosure @escaping @Sendable () -> any CallCredential
    ) -> AnyRetrierFactory {
        AnyRetrierFactory(sharingKey: SharingKey("authorizing")) { Authorizing(credentials: [credential()]) }
    }

    private struct Authorizing: Retrier {
        let credentials: [any CallCredential]

        func retry<R: Request>(_ request: R, failingWith error: HttpError) async -> RetryDecision {
            .doNotRetry
        }
    }
}
