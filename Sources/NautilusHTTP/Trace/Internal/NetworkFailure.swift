import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension URLError.Code {
    /// The delivery of an exchange that ends with this code.
    package var delivery: Delivery { Self.meanings[self]?.delivery ?? .maybeExecuted }

    /// The code in a few words. They are our own, since Foundation's may contain the URL with its query.
    var reason: String { Self.meanings[self]?.reason ?? "an unknown failure of the network" }

    /// Every code with which an exchange can end. A missing code counts as ``Delivery/maybeExecuted``.
    private static let meanings: [URLError.Code: (delivery: Delivery, reason: String)] = [
        // The request did not leave, since the server could not be reached.
        .badURL: (.notSent, "the URL cannot be used"),
        .unsupportedURL: (.notSent, "the URL's scheme is not supported"),
        .cannotFindHost: (.notSent, "host not found"),
        .dnsLookupFailed: (.notSent, "name lookup failed"),
        .cannotConnectToHost: (.notSent, "connection refused, or the host is unreachable"),
        .notConnectedToInternet: (.notSent, "no network connection"),
        .internationalRoamingOff: (.notSent, "roaming is switched off"),
        .callIsActive: (.notSent, "a phone call is using the connection"),
        .dataNotAllowed: (.notSent, "cellular data is not allowed"),
        .appTransportSecurityRequiresSecureConnection: (.notSent, "App Transport Security asks for https"),
        // A request is sent only after a completed handshake.
        .secureConnectionFailed: (.notSent, "no secure connection"),
        .serverCertificateHasBadDate: (.notSent, "the server's certificate has expired or is not valid yet"),
        .serverCertificateUntrusted: (.notSent, "the server's certificate is not trusted"),
        .serverCertificateHasUnknownRoot: (.notSent, "the server's certificate has an unknown root"),
        .serverCertificateNotYetValid: (.notSent, "the server's certificate is not valid yet"),
        .clientCertificateRejected: (.notSent, "the server rejected the client's certificate"),
        .clientCertificateRequired: (.notSent, "the server asks for a client certificate"),
        // The request left, at least in part, and what became of it is unknown.
        .timedOut: (.maybeExecuted, "timed out"),
        .networkConnectionLost: (.maybeExecuted, "connection lost"),
        .badServerResponse: (.maybeExecuted, "the answer is not valid HTTP"),
        .zeroByteResource: (.maybeExecuted, "the answer is empty"),
        .cannotParseResponse: (.maybeExecuted, "the answer could not be read"),
        .cannotDecodeRawData: (.maybeExecuted, "the answer's encoding is not what its header says"),
        .cannotDecodeContentData: (.maybeExecuted, "the answer could not be decompressed"),
        .dataLengthExceedsMaximum: (.maybeExecuted, "there is more data than Foundation takes"),
        .httpTooManyRedirects: (.maybeExecuted, "too many redirects"),
        .redirectToNonExistentLocation: (.maybeExecuted, "a redirect leads nowhere"),
        .resourceUnavailable: (.maybeExecuted, "the resource is not available"),
        .cannotLoadFromNetwork: (.maybeExecuted, "the network must not be used for this request"),
        .userAuthenticationRequired: (.maybeExecuted, "the server asks for credentials"),
        .userCancelledAuthentication: (.maybeExecuted, "the server asked for credentials and got none"),
        // Our own cancellations become a `CancellationError`, so this one comes from the system or from other code.
        .cancelled: (.maybeExecuted, "cancelled from outside"),
        .unknown: (.maybeExecuted, "an unknown failure of the network"),
    ]
}
