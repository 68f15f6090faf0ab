/// Why a redirect was not followed.
public enum RedirectRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// More redirects than one attempt follows.
    case tooMany(limit: Int)
    /// It leads back to where the attempt has been.
    case loop
    /// It leads from `https` to `http`.
    case downgrade
    /// Its `Location` is not an http or https URL.
    case invalidLocation
    /// It asks to send a one-shot body again.
    case bodySpent
    /// It asks to send the body to another origin, and the request keeps its body where it was sent
    /// (`Request.allowsBodyAcrossOrigins`).
    case bodyAcrossOrigins

    /// The refusal, and its remedy where there is one.
    public var description: String {
        switch self {
        case .tooMany(let limit): "more than \(limit) redirects"
        case .loop: "the redirects lead in a circle"
        case .downgrade: "the redirect leads from https to http"
        case .invalidLocation: "the redirect's Location is not an http or https URL"
        case .bodySpent: "the redirect asks for the body again, which is a one-shot stream; declare it with a factory"
        case .bodyAcrossOrigins: "the redirect asks for the body at another origin, where the request does not send it"
        }
    }
}
