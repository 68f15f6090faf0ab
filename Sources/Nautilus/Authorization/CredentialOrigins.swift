/// The origins that a credential may be sent to: named ones, or the first one that needs it.
///
/// A credential belongs to one environment. A coordinator must not put it on requests to another environment, neither
/// when it is given to that environment's service nor when its own service's base URL moves.
public struct CredentialOrigins: Sendable {
    /// The named origins; nil to accept the first origin that comes.
    private let named: [HttpOrigin]?

    /// Only the origin of the first request that gets a credential; it has to be `https`, or this machine.
    ///
    /// Each process learns the origin anew, so an API that moves to another host keeps its users. Stored credentials of
    /// several environments therefore need a key each: under a shared key, the next launch would carry a credential
    /// from one environment to another.
    public static let first = CredentialOrigins(named: nil)

    /// Exactly these origins, wherever the credential comes from; also over plain `http`, where a URL says so.
    ///
    /// Paths do not count: redirects within an origin keep the credential, so environments that are paths of one host
    /// must not redirect to each other.
    ///
    /// - Parameter urls: Base URLs, `"api.example.com"` or `"http://10.0.2.2:8080/v1"`; without a scheme they are
    ///   `https`. A malformed URL adds no origin.
    public static func only(_ urls: String...) -> CredentialOrigins {
        CredentialOrigins(named: urls.compactMap { (try? BaseUrl($0, isSecure: true))?.origin })
    }

    private init(named: [HttpOrigin]?) {
        self.named = named
    }

    /// Checks whether a credential may go to `origin`, when `learned` is the origin that it was first sent to.
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

    /// Checks whether a session's credential may go to `origin` after another object with the same session sent it to
    /// `first`: if the origins differ, only when both are named.
    ///
    /// - Throws: ``RefreshError/foreignOrigin(_:own:)``.
    package func admit(_ origin: HttpOrigin, ofSessionAt first: HttpOrigin) throws(RefreshError) {
        guard origin == first || named?.contains(first) == true else { throw .foreignOrigin(origin, own: [first]) }
    }
}
