import Foundation

extension RetryCondition {
    /// Every code of URL loading, with one reason for being in or out.
    static let standardCodes: [URLError.Code: Verdict] = [
        // The network: passes by itself.
        .cannotConnectToHost: .retry("connection refused: the server may be restarting"),
        .cannotFindHost: .retry("no such host: name servers fail for moments"),
        .dnsLookupFailed: .retry("name lookup failed: name servers fail for moments"),
        .networkConnectionLost: .retry("connection lost: a new one may hold"),
        .notConnectedToInternet: .retry("no connection: it may come back"),
        .timedOut: .retry("timed out: the next exchange may not"),
        .badServerResponse: .retry("an empty or broken answer: a connection closed too early looks like this"),
        .cannotLoadFromNetwork: .retry("the network was not used: it may be the next time"),
        .callIsActive: .retry("a phone call holds the radio: it ends"),
        .internationalRoamingOff: .retry("roaming is off: the device may find another network"),
        .dataNotAllowed: .retry("no mobile data: the device may find another network"),
        .unknown: .retry("an unknown failure of the network: most pass"),
        .backgroundSessionWasDisconnected: .retry("the background session lost its host: it is connected anew"),

        // The request: the same the next time.
        .badURL: .stop("the URL is wrong"),
        .unsupportedURL: .stop("the URL's scheme is not supported"),
        .dataLengthExceedsMaximum: .stop("the response is as large the next time"),
        .requestBodyStreamExhausted: .stop("the body has been read"),
        .appTransportSecurityRequiresSecureConnection: .stop("the system requires https"),
        .fileDoesNotExist: .stop("the file does not exist"),
        .fileIsDirectory: .stop("the file is a directory"),
        .noPermissionsToReadFile: .stop("the file is not readable"),

        // The server's identity: retrying would hand the request to any host that answers.
        .secureConnectionFailed: .stop("TLS failed: a matter of configuration, or of an attack"),
        .serverCertificateHasBadDate: .stop("the server's certificate has expired, or is not yet valid"),
        .serverCertificateUntrusted: .stop("the server's certificate is not trusted"),
        .serverCertificateHasUnknownRoot: .stop("the server's certificate has an unknown root"),
        .serverCertificateNotYetValid: .stop("the server's certificate is not yet valid"),
        .clientCertificateRejected: .stop("the client's certificate was rejected"),
        .clientCertificateRequired: .stop("the server requires a client certificate"),

        // The answer: the server means it.
        .cancelled: .stop("nobody waits for it any more"),
        .userCancelledAuthentication: .stop("nobody waits for it any more"),
        .userAuthenticationRequired: .stop("mended by a credential, not by waiting"),
        .httpTooManyRedirects: .stop("the server redirects the same way the next time"),
        .redirectToNonExistentLocation: .stop("the server redirects the same way the next time"),
        .resourceUnavailable: .stop("the resource is not available"),
        .zeroByteResource: .stop("the server answers with nothing where something was promised"),
        .cannotDecodeRawData: .stop("the same bytes decode the same way"),
        .cannotDecodeContentData: .stop("the same bytes decode the same way"),
        .cannotParseResponse: .stop("the same bytes parse the same way"),

        // The disk, and background sessions: not a matter of the network.
        .cannotCreateFile: .stop("the disk refuses the file"),
        .cannotOpenFile: .stop("the disk refuses the file"),
        .cannotCloseFile: .stop("the disk refuses the file"),
        .cannotWriteToFile: .stop("the disk refuses the file"),
        .cannotRemoveFile: .stop("the disk refuses the file"),
        .cannotMoveFile: .stop("the disk refuses the file"),
        .downloadDecodingFailedMidStream: .stop("the same bytes decode the same way"),
        .downloadDecodingFailedToComplete: .stop("the same bytes decode the same way"),
        .backgroundSessionInUseByAnotherProcess: .stop("another process uses the background session"),
        .backgroundSessionRequiresSharedContainer: .stop("the background session needs a shared container"),
    ]
}
