import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

extension URLError.Code {
    /// What kept a request from being sent, where NIO has failed.
    package init(preventingExchange error: any Error) {
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

    /// What ended an exchange that had begun, where NIO has failed.
    package init(endingExchange error: any Error) {
        switch error {
        case HTTPParserError.invalidEOFState, HTTPParserError.closedConnection: self = .networkConnectionLost
        case is HTTPParserError: self = .badServerResponse
        case is IOError, is ChannelError, is NIOSSLError, is BoringSSLError: self = .networkConnectionLost
        default: self = .unknown
        }
    }
}
