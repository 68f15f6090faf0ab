import Foundation

extension InterceptorTier {
    /// Where a network interceptor stands among the others, wherever the list names it: the first is outermost.
    ///
    /// Up to ``refusing``, interceptors hold requests back, and go by the status that counts (``Request/status(of:)``).
    /// From ``signing`` on, a request carries its credential, and each of its redirects passes anew.
    public enum NetworkStage: Int, Sendable {
        /// Sends a slow request a second time.
        case hedging
        /// Makes requests wait until others end, as `ConcurrencyLimit` does.
        case waitingForOthers
        /// Makes requests wait for a time that the server sets, as `Pacing` does.
        case waitingForServer
        /// Refuses requests at once, as `CircuitBreaker` does.
        case refusing
        /// Changes requests and answers: compresses, decrypts, adds fields. The default.
        case changing
        /// Signs a request with its credential; not asked about requests to another origin than the service's,
        /// redirects included.
        case signing
        /// Imitates the network, as `Chaos` does.
        case network
    }
}

/// Wraps each send of a request, subrequests included: when it has let the request through, the credential is put on it
/// and it goes out.
///
/// If the credential has gone while the request was held back, the request comes back with an error, waits for the next
/// one outside of all network interceptors, and passes them again: so no slot is held during a refresh, and a crowd
/// that has waited for one refresh does not leave at the same moment.
public protocol NetworkInterceptor: HttpInterceptor {
    /// The rest of the path.
    typealias Next = AttemptContext.Next

    /// Where it stands among the others. Default: ``InterceptorTier/NetworkStage/changing``.
    var networkStage: InterceptorTier.NetworkStage { get }

    /// Handles one send.
    ///
    /// - Throws: Any error; it becomes the failure of the send. An error of `next` is the framework's and keeps its
    ///   kind.
    func intercept(_ request: HttpRequest, context: AttemptContext, next: Next) async throws -> HttpResponse<Data>
}

extension NetworkInterceptor {
    /// Returns ``InterceptorTier/NetworkStage/changing``.
    public var networkStage: InterceptorTier.NetworkStage { .changing }
    /// Around each send.
    public var tier: InterceptorTier { .network(self) }
}

extension AttemptContext {
    /// The rest of the path of a send. It may be called again, and from any task, as long as the send goes on.
    public struct Next: Sendable {
        private let send: @Sendable (HttpRequest, HedgedSend?) async throws -> HttpResponse<Data>

        /// Creates a path that ends here, as a test of an interceptor does.
        public init(_ send: @escaping @Sendable (HttpRequest) async throws -> HttpResponse<Data>) {
            self.send = { request, _ in try await send(request) }
        }

        init(_ send: @escaping @Sendable (HttpRequest, HedgedSend?) async throws -> HttpResponse<Data>) {
            self.send = send
        }

        /// Sends the request on.
        ///
        /// - Throws: Usually ``HttpError``.
        public func callAsFunction(_ request: HttpRequest) async throws -> HttpResponse<Data> {
            try await send(request, nil)
        }

        /// Sends the request on as one of the two sends of a hedge.
        package func callAsFunction(_ request: HttpRequest, as hedged: HedgedSend) async throws -> HttpResponse<Data> {
            try await send(request, hedged)
        }
    }

    /// Thrown by a network interceptor in place of a wait, where a request must not wait (``mayWait``): the
    /// second send of a hedge is not made then.
    public struct WouldWait: Error, Sendable {
        /// The type of the interceptor; nil until it is known.
        package internal(set) var interceptor: String?

        /// Creates the error.
        public init() {}
    }
}
