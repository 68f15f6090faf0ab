import Foundation
import Nautilus

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The verdict on an origin when a request that was sent to it has ended.
enum OriginVerdict: Hashable, Sendable {
    /// The origin has answered.
    case success
    /// The origin has failed, or cannot be reached.
    case failure
    /// No verdict: the request was cancelled, or failed on this side.
    case nothing
}

extension OriginVerdict {
    /// The verdict of an answer on `origin`.
    init(_ response: HttpResponse<Data>, from origin: HttpOrigin, failing statuses: HttpStatusCodes) {
        // Any other status is a deliberate answer.
        guard statuses.contains(response.status) else {
            self = .success
            return
        }
        // If a redirect led elsewhere, it is the other origin that fails.
        self = response.url.map { HttpOrigin($0) == origin } ?? true ? .failure : .success
    }

    /// The verdict of a failure on the origin.
    ///
    /// - Parameter remaining: The time that was left until the call's deadline when the attempt began; nil when
    ///   unknown.
    init(_ thrown: any Error, remaining: Duration? = nil) {
        switch thrown {
        case let error as HttpError: self.init(error, remaining: remaining)
        case let error as URLError: self.init(error.code)
        case TransportError.failed(let code, _, _): self.init(code)
        case TransportError.responseTooLarge: self = .success
        default: self = .nothing
        }
    }

    private init(_ error: HttpError, remaining: Duration?) {
        // Another call's failure, or one before the request was sent, such as a refresh that could not reach its own
        // server.
        guard !error.isFinal, error.stage != .prepare else {
            self = .nothing
            return
        }
        // The origin has answered with a redirect, and another origin failed.
        if error.redirects?.leftOrigin == true {
            self = .success
            return
        }
        switch error.kind {
        // The request's timeout does not include the wait for a connection.
        // Nor the time of a signature, before which nothing is sent.
        case .timeout: self = error.stage == .intercept ? .nothing : .failure
        case .deadline(let limit): self = error.hasWaitedForServer(of: remaining ?? limit) ? .failure : .nothing
        case .transport(let code): self.init(code)
        case .redirect, .responseTooLarge: self = .success
        case .cancelled, .invalidRequest, .status, .decoding, .environmentChanged, .authorization, .custom, .refused:
            self = .nothing
        }
    }

    private init(_ code: URLError.Code) {
        self = Self.failingCodes.contains(code) ? .failure : .nothing
    }

    /// Failures that only the origin, or the way to it, can cause.
    ///
    /// A device without a network, a malformed request and a full disk say nothing about the server; a phone that was
    /// in a tunnel must not be kept from the server afterwards.
    private static let failingCodes: Set<URLError.Code> = [
        // The host is not there.
        .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .resourceUnavailable,
        // The host is there, but does not answer, or not with HTTP.
        .timedOut, .networkConnectionLost, .badServerResponse, .zeroByteResource, .cannotParseResponse, .unknown,
        .cannotDecodeRawData, .cannotDecodeContentData,
        // The host is there, but is not the right server.
        .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
    ]
}

extension HttpError {
    /// Whether most of the attempt's time passed after its request was sent.
    ///
    /// A call that queued until its deadline says nothing about the server, whether it was sent at the last
    /// moment or not at all.
    fileprivate func hasWaitedForServer(of time: Duration) -> Bool {
        guard let exchange, stage != .intercept else { return false }
        return (exchange.duration - exchange.connectionWait) * 2 >= time
    }
}
