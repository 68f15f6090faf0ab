import Foundation
import NIOFailures
import NIOHTTP1
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
            let code = isSent ? URLError.Code(endingExchange: error) : URLError.Code(preventingExchange: error)
            self.init(code, delivery: isSent ? .maybeExecuted : .notSent)
        }
    }
}
