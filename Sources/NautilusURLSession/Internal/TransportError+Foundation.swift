import Foundation
import NautilusHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension TransportError {
    /// The failure that Foundation reports.
    init(_ error: any Error) {
        guard let error = error as? URLError else {
            self.init(.unknown)
            return
        }
        #if canImport(FoundationNetworking)
            self.init(LibcurlMessage(error.localizedDescription).code(reportedAs: error.code))
        #else
            self.init(error.code)
        #endif
    }
}

/// libcurl's own text about a failure, which tells more than the code to which Foundation maps it on Linux.
///
/// Foundation reports most failures as "unknown", an empty reply as a bad response, and any failure as "cannot connect"
/// if one address of the host had refused the connection before another one accepted it. The last is dangerous, since
/// only a request that was never sent may safely be sent again. So the text decides, and the code counts only if the
/// text says nothing.
struct LibcurlMessage {
    private let text: String

    init(_ text: String) {
        self.text = text
    }

    /// The right code for a failure that Foundation reports as `code`.
    func code(reportedAs code: URLError.Code) -> URLError.Code {
        Self.phrases.first { text.contains($0.phrase) }?.code ?? fallback(for: code)
    }

    /// The code to use if the text says nothing.
    private func fallback(for code: URLError.Code) -> URLError.Code {
        switch code {
        // Only libcurl's text proves that no connection was made.
        case .cannotConnectToHost: .networkConnectionLost
        // Only https and http reach libcurl, so it must be the answer's protocol that is not supported.
        case .unsupportedURL: .badServerResponse
        default: code
        }
    }

    /// Parts of libcurl's messages, the more specific ones first.
    private static let phrases: [(phrase: String, code: URLError.Code)] = [
        // These occur after the handshake, and so perhaps after the request. They come first, since OpenSSL's own words
        // may follow in the text.
        ("SSL_read", .networkConnectionLost),
        ("SSL_write", .networkConnectionLost),
        ("certificate has expired", .serverCertificateHasBadDate),
        ("certificate is not yet valid", .serverCertificateNotYetValid),
        ("SSL certificate problem", .serverCertificateUntrusted),
        ("SSL: no alternative certificate subject name", .serverCertificateUntrusted),
        ("SSL: certificate subject name", .serverCertificateUntrusted),
        ("SSL peer certificate", .serverCertificateUntrusted),
        ("SSL_connect", .secureConnectionFailed),
        ("TLS connect error", .secureConnectionFailed),
        ("SSL connect error", .secureConnectionFailed),
        ("error:0A", .secureConnectionFailed),
        ("Could not resolve", .cannotFindHost),
        ("Couldn't resolve", .cannotFindHost),
        ("Failed to connect", .cannotConnectToHost),
        ("Couldn't connect", .cannotConnectToHost),
        ("Could not connect", .cannotConnectToHost),
        ("Immediate connect fail", .cannotConnectToHost),
        ("Empty reply from server", .networkConnectionLost),
        ("Server returned nothing", .networkConnectionLost),
        ("Recv failure", .networkConnectionLost),
        ("Send failure", .networkConnectionLost),
        ("Failure when receiving data", .networkConnectionLost),
        ("Failed sending data", .networkConnectionLost),
        ("transfer closed with", .networkConnectionLost),
        ("end of response with", .networkConnectionLost),
        ("HTTP/0.9", .badServerResponse),
        ("Unsupported response code", .badServerResponse),
        ("Weird server reply", .badServerResponse),
        ("Failed writing header", .badServerResponse),
        ("Failure writing output", .badServerResponse),
        ("Header without colon", .badServerResponse),
        ("Nul byte in header", .badServerResponse),
        ("Invalid Content-Length", .badServerResponse),
        ("chunked-encoding", .badServerResponse),
        ("content encoding", .cannotDecodeContentData),
        ("content unencoding", .cannotDecodeContentData),
    ]
}
