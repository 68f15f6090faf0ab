import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL
import NautilusHTTP

extension TransportError {
    /// A body with codings that were not asked for.
    static let unreadableBody = TransportError.failed(
        .cannotDecodeContentData,
        delivery: .maybeExecuted,
        reason: "The answer's body has a coding that was not asked for, or several."
    )

    /// The failure that the client reports.
    ///
    /// - Parameters:
    ///   - error: The error that the client, or something below it, has thrown.
    ///   - isSent: Whether anything of the request was written: a failure before that is `notSent`, whatever it is.
    init(of error: any Error, isSent: Bool) {
        switch error {
        case let error as TransportError: self = error
        case let error as HTTPClientError where error == .bodyLengthMismatch:
            let reason = "The body's stream has not as many bytes as were declared."
            self = .failed(.requestBodyStreamExhausted, delivery: isSent ? .maybeExecuted : .notSent, reason: reason)
        default:
            let code = isSent ? URLError.Code(ending: error) : URLError.Code(preventing: error)
            self.init(code, delivery: isSent ? .maybeExecuted : .notSent)
        }
    }
}

extension URLError.Code {
    /// The code of an error that kept a request from being sent.
    fileprivate init(preventing error: any Error) {
        switch error {
        case let error as HTTPClientError where error == .invalidURL || error == .emptyHost: self = .badURL
        case let error as HTTPClientError where error == .emptyScheme: self = .unsupportedURL
        case let error as HTTPClientError where error == .tlsHandshakeTimeout: self = .secureConnectionFailed
        // A kept connection that the server has closed meanwhile.
        case let error as HTTPClientError where error == .remoteConnectionClosed: self = .networkConnectionLost
        case let error as NIOConnectionError where error.connectionErrors.isEmpty: self = .cannotFindHost
        case NIOSSLError.handshakeFailed(let error) where "\(error)".contains("CERTIFICATE_VERIFY_FAILED"):
            self = .serverCertificateUntrusted
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            self = .serverCertificateUntrusted
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: self = .secureConnectionFailed
        default: self = .cannotConnectToHost
        }
    }

    /// The code of an error that ended an exchange that had begun.
    fileprivate init(ending error: any Error) {
        switch error {
        case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError:
            self = .cannotDecodeContentData
        case let error as HTTPClientError where error == .remoteConnectionClosed: self = .networkConnectionLost
        case HTTPParserError.invalidEOFState, HTTPParserError.closedConnection: self = .networkConnectionLost
        case is HTTPParserError: self = .badServerResponse
        case is IOError, is ChannelError, is NIOSSLError, is BoringSSLError: self = .networkConnectionLost
        default: self = .unknown
        }
    }
}
