/// The origins that a credential may be sent to: those that are named, or the first that it is needed for.
///
/// A credential is one environment's. A coordinator that has been given to the service of another one must not stamp there,
/// nor when the base URL of its own service moves.
public struct CredentialOrigins: Sendable {
    /// Nil for the first that comes.
    private let named: [HttpOrigin]?

    /// The origin of the first request that gets a credential, and no other one; it has to be `https`, or this machine.
    ///
    /// Each process learns it anew: an API that moves to another host keeps its users. So stored credentials of several
    /// environments need a key each: under one, the next launch would take a credential from one environment to the other.
    public static let first = CredentialOrigins(named: nil)

    /// Exactly these, whichever the credential comes from; also over plain `http`, where a URL says so.
    ///
    /// - Parameter urls: Base URLs, `"api.example.com"` or `"http://10.0.2.2:8080/v1"`; without a scheme they are `https`. Of
    ///   one that is malformed no origin is taken.
    public static func only(_ urls: String...) -> CredentialOrigins {
        CredentialOrigins(named: urls.compactMap { (try? BaseUrl($0, isSecure: true))?.origin })
    }

    private init(named: [HttpOrigin]?) {
        self.named = named
    }

    /// Whether a credential may go to `origin`, when `learned` is the one where it has been first.
    ///
    /// - Throws: ``RefreshError/foreignOrigin(_:own:)``, ``RefreshError/insecureOrigin(_:)``.
    func admit(_ origin: HttpOrigin, after learned: HttpOrigin?) throws(RefreshError) {
        if let named {
            guard named.contains(origin) else { throw .foreignOrigin(origin, own: named) }
        } else if let learned {
            guard learned == origin else { throw .foreignOrigin(origin, own: [learned]) }
        } else if origin.scheme != "https", !origin.isLoopback {
            throw .insecureOrigin(origin)
        }
    }

    /// Whether the credential of a session may go to `origin` that has gone to `first` already, by way of another object that
    /// has the session, too: not unless both are named.
    ///
    /// - Throws: ``RefreshError/foreignOrigin(_:own:)``.
    package func admit(_ origin: HttpOrigin, ofSessionAt first: HttpOrigin) throws(RefreshError) {
        guard origin == first || named?.contains(first) == true else { throw .foreignOrigin(origin, own: [first]) }
    }
}
