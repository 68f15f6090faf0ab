import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLError.Code {
    /// The delivery of an exchange that ends with this code.
    package var delivery: Delivery { Self.meanings[self]?.delivery ?? .maybeExecuted }

    /// The code for people. Our own words: Foundation's may hold the URL with its query.
    var reason: String { Self.meanings[self]?.reason ?? "The exchange failed for a reason that is not known." }

    /// Every code with which an exchange can end. One that is missing is taken as ``Delivery/maybeExecuted``.
    private static let meanings: [URLError.Code: (delivery: Delivery, reason: String)] = [
        // The request did not leave: there was no way to the server.
        .badURL: (.notSent, "The URL cannot be used."),
        .unsupportedURL: (.notSent, "The URL's scheme is not supported."),
        .cannotFindHost: (.notSent, "The host was not found."),
        .dnsLookupFailed: (.notSent, "The host's name could not be looked up."),
        .cannotConnectToHost: (.notSent, "The host refused the connection, or cannot be reached."),
        .notConnectedToInternet: (.notSent, "There is no network connection."),
        .internationalRoamingOff: (.notSent, "Roaming is switched off."),
        .callIsActive: (.notSent, "A phone call is using the connection."),
        .dataNotAllowed: (.notSent, "Cellular data is not allowed."),
        .appTransportSecurityRequiresSecureConnection: (.notSent, "App Transport Security asks for https."),
        // A request only follows a completed handshake.
        .secureConnectionFailed: (.notSent, "The secure connection could not be made."),
        .serverCertificateHasBadDate: (.notSent, "The server's certificate has expired or is not valid yet."),
        .serverCertificateUntrusted: (.notSent, "The server's certificate is not trusted."),
        .serverCertificateHasUnknownRoot: (.notSent, "The server's certificate has an unknown root."),
        .serverCertificateNotYetValid: (.notSent, "The server's certificate is not valid yet."),
        .clientCertificateRejected: (.notSent, "The server rejected the client's certificate."),
        .clientCertificateRequired: (.notSent, "The server asks for a client's certificate."),
        // The request left, wholly or in part, and what became of it is unknown.
        .timedOut: (.maybeExecuted, "The server did not answer in time."),
        .networkConnectionLost: (.maybeExecuted, "The connection was lost before the response was complete."),
        .badServerResponse: (.maybeExecuted, "The answer is not valid HTTP."),
        .zeroByteResource: (.maybeExecuted, "The answer is empty."),
        .cannotParseResponse: (.maybeExecuted, "The answer could not be read."),
        .cannotDecodeRawData: (.maybeExecuted, "The answer's encoding is not what its header says."),
        .cannotDecodeContentData: (.maybeExecuted, "The answer could not be decompressed."),
        .dataLengthExceedsMaximum: (.maybeExecuted, "There is more data than Foundation takes."),
        .httpTooManyRedirects: (.maybeExecuted, "There were too many redirects."),
        .redirectToNonExistentLocation: (.maybeExecuted, "A redirect leads nowhere."),
        .resourceUnavailable: (.maybeExecuted, "The resource is not available."),
        .cannotLoadFromNetwork: (.maybeExecuted, "The network must not be used for this request."),
        .userAuthenticationRequired: (.maybeExecuted, "The server asks for credentials."),
        .userCancelledAuthentication: (.maybeExecuted, "The server asked for credentials and got none."),
        // Ours are answered with CancellationError: this is the system's, or that of other code.
        .cancelled: (.maybeExecuted, "The exchange was cancelled from outside."),
        .unknown: (.maybeExecuted, "The exchange failed for a reason that is not known."),
    ]
}
