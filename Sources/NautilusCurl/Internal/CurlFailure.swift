import Foundation
import NautilusHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
#if os(Linux)
    internal import CNautilusCurl
#endif

/// A transfer that libcurl has ended with a failure.
struct CurlFailure {
    /// libcurl's code for the failure (`CURLcode`).
    let code: Int32
    /// libcurl's own message; never shown, since it may name the URL.
    let text: String
    /// The fault of the certificate, as a number of OpenSSL; 0 for nothing.
    let verification: Int
    /// The status with which a proxy refused to make the connection; 0 for none.
    var proxyStatus = 0
    /// Whether anything of the request was written.
    let isSent: Bool
    /// Whether the connection to the server was made, and its TLS handshake was not.
    var isSecuring = false

    /// The code for a connection that was not made in time.
    static let timedOut: Int32 = 28

    /// The code for a connection that could not be made.
    static let cannotConnect: Int32 = 7

    /// The code for a transfer that this side has ended.
    static let aborted: Int32 = 42

    /// URL loading's code for the failure.
    var urlCode: URLError.Code {
        // libcurl uses its code for a lost connection also for some answers that are not HTTP.
        if code == 56, text.contains("chunk") { return .badServerResponse }
        if code == 56, text.contains("certificate required") { return .clientCertificateRequired }
        // Once something was sent, these mean a version of HTTP that does not exist; before, a scheme that libcurl does
        // not speak.
        if isSent, code == 1 || code == 3 { return .badServerResponse }
        // Means that no memory is left; up to 8.1, also that a line is too long.
        if isSent, code == 27 { return .badServerResponse }
        // Means that a trailer is not a field, according to libcurl's own parser of headers ("a bad function
        // argument").
        if isSent, code == 43 { return .badServerResponse }
        if code == 60 || code == 51 { return certificateCode }
        return Self.meanings[code] ?? .unknown
    }

    private var certificateCode: URLError.Code {
        switch verification {
        case 9: .serverCertificateNotYetValid
        case 10: .serverCertificateHasBadDate
        default: .serverCertificateUntrusted
        }
    }

    /// The other failures of requests over http and https; the remaining codes belong to other protocols.
    private static let meanings: [Int32: URLError.Code] = [
        1: .unsupportedURL,
        3: .badURL,
        // The proxy's name and the host's.
        5: .cannotFindHost,
        6: .cannotFindHost,
        7: .cannotConnectToHost,
        // libcurl's "weird server reply".
        8: .badServerResponse,
        // A body that is shorter than announced.
        18: .networkConnectionLost,
        // One of our functions refused its input; its own reason takes precedence.
        23: .badServerResponse,
        26: .networkConnectionLost,
        timedOut: .timedOut,
        35: .secureConnectionFailed,
        42: .networkConnectionLost,
        // An empty reply.
        52: .networkConnectionLost,
        53: .secureConnectionFailed,
        54: .secureConnectionFailed,
        55: .networkConnectionLost,
        56: .networkConnectionLost,
        // The client's own certificate, ciphers, authorities.
        58: .clientCertificateRejected,
        59: .secureConnectionFailed,
        61: .cannotDecodeContentData,
        64: .secureConnectionFailed,
        65: .networkConnectionLost,
        66: .secureConnectionFailed,
        77: .secureConnectionFailed,
        80: .networkConnectionLost,
        82: .secureConnectionFailed,
        83: .secureConnectionFailed,
        // A pinned key that does not match.
        90: .serverCertificateUntrusted,
        91: .serverCertificateUntrusted,
        97: .cannotConnectToHost,
        98: .clientCertificateRequired,
        // From 8.2 on: a value or a line is too large.
        100: .badServerResponse,
    ]
}

#if os(Linux)
    extension CurlHandle {
        /// Whether the last connection leads to `port`, and not to a proxy's, and its TLS handshake has no end.
        fileprivate func isSecuring(port: Int?) -> Bool {
            number(NAUTILUS_CURL_INFO_PRIMARY_PORT) == port && duration(NAUTILUS_CURL_INFO_CONNECT_TIME_T) > .zero
                && duration(NAUTILUS_CURL_INFO_APPCONNECT_TIME_T) == .zero
        }
    }

    extension CurlFailure {
        /// The facts that the transfer's handle tells about it.
        ///
        /// - Parameter port: The server's port if it is to speak TLS; nil if not.
        init(_ code: Int32, of handle: CurlHandle?, isSent: Bool, port: Int?) {
            self.init(
                code: code,
                text: handle?.errorText ?? "",
                verification: handle?.number(NAUTILUS_CURL_INFO_SSL_VERIFYRESULT) ?? 0,
                proxyStatus: handle?.number(NAUTILUS_CURL_INFO_HTTP_CONNECTCODE) ?? 0,
                isSent: isSent,
                isSecuring: port != nil && handle?.isSecuring(port: port) == true
            )
        }
    }
#endif

extension TransportError {
    /// The failure, as libcurl tells it.
    init(_ failure: CurlFailure) {
        let delivery = failure.isSent ? Delivery.maybeExecuted : .notSent
        switch failure.isSent ? 0 : failure.proxyStatus {
        case 407:
            let reason = "The proxy asks for a user and a password, or for others; give them to the transport's route."
            self = .failed(.userAuthenticationRequired, delivery: delivery, reason: reason)
        case 300...:
            let reason = "The proxy refused to make the connection, with status \(failure.proxyStatus)."
            self = .failed(.cannotConnectToHost, delivery: delivery, reason: reason)
        default:
            guard failure.code == CurlFailure.timedOut else {
                self.init(failure.urlCode, delivery: delivery)
                return
            }
            // The only time limit that libcurl is given is that for making a connection. If something was sent, a kept
            // connection has ended under the request before.
            let reason =
                failure.isSecuring
                ? "The server took the connection, but TLS did not answer in time; it may not speak TLS on this port."
                : "The connection was not made in time."
            self = .failed(.timedOut, delivery: delivery, reason: reason)
        }
    }

    init(_ refusal: CurlResponseHead.Refusal) {
        switch refusal {
        case .malformed, .unrequestedUpgrade: self.init(.badServerResponse)
        case .tooLarge:
            let reason = "The answer's header is larger than the transport takes."
            self = .failed(.badServerResponse, delivery: .maybeExecuted, reason: reason)
        }
    }

    /// The same failure, with a known delivery.
    func delivered(_ delivery: Delivery) -> TransportError {
        guard case .failed(let code, _, let reason) = self else { return self }
        return .failed(code, delivery: delivery, reason: reason)
    }
}
