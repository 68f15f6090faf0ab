import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Nautilus

extension TransportError {
    /// The failure that NIO reports of an opening.
    ///
    /// - Parameters:
    ///   - error: What the connection, TLS or the handshake has thrown.
    ///   - isSent: Whether anything of the request was written: what fails before is `notSent`, whatever it is.
    init(of error: any Error, isSent: Bool) {
        switch error {
        case let error as TransportError: self = error
        case is NIOHTTPClientUpgradeError:
            let reason = "The server's answer does not complete the handshake of a web socket (RFC 6455 §4.1)."
            self = .failed(.badServerResponse, delivery: .maybeExecuted, reason: reason)
        default:
            let code = isSent ? URLError.Code(endingHandshake: error) : URLError.Code(preventingHandshake: error)
            self.init(code, delivery: isSent ? .maybeExecuted : .notSent)
        }
    }
}

extension URLError.Code {
    /// What kept the request from being sent.
    fileprivate init(preventingHandshake error: any Error) {
        switch error {
        case let error as NIOConnectionError where error.connectionErrors.isEmpty: self = .cannotFindHost
        case NIOSSLError.handshakeFailed(let error) where "\(error)".contains("CERTIFICATE_VERIFY_FAILED"):
            self = .serverCertificateUntrusted
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            self = .serverCertificateUntrusted
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: self = .secureConnectionFailed
        default: self = .cannotConnectToHost
        }
    }

    /// What ended a handshake that had begun.
    fileprivate init(endingHandshake error: any Error) {
        switch error {
        case HTTPParserError.invalidEOFState, HTTPParserError.closedConnection: self = .networkConnectionLost
        case is HTTPParserError: self = .badServerResponse
        case is IOError, is ChannelError, is NIOSSLError, is BoringSSLError: self = .networkConnectionLost
        default: self = .unknown
        }
    }
}
