import Foundation
import Nautilus

/// Asks for an issuer's metadata. Nothing in it is a secret, so redirects are followed: the document has to name the
/// issuer that was asked, wherever it comes from.
struct MetadataRequest: Request {
    typealias Result = Data

    var header: HttpHeader { [.accept: "application/json"] }
    /// The limits of ``TokenEndpoint``, since a user waits for a sign-in.
    var timeout: Duration? { .seconds(20) }
    var deadline: Duration? { .seconds(25) }
}
