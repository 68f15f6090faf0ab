import Nautilus

extension HttpError {
    /// The credential's lack, according to the service's own origin: a scope (RFC 6750 §3.1), or an authentication of
    /// the user (RFC 9470 §3); nil when that is not what is wrong.
    var lack: OAuthError.Kind? {
        guard let request = exchange?.request ?? request, request.isToServiceOrigin else { return nil }
        guard let response, [401, 403].contains(response.status) else { return nil }
        if let url = response.url, HttpOrigin(url) != request.origin { return nil }
        for challenge in response.header.challenges where challenge.scheme == "bearer" {
            switch challenge["error"]?.lowercased() {
            case "insufficient_scope":
                return .insufficientScope(OAuthScope(parsing: challenge["scope"] ?? ""))
            case "insufficient_user_authentication":
                let values = challenge["acr_values"]?.split(separator: " ").map(String.init) ?? []
                let maxAge = challenge["max_age"].flatMap { UInt32($0) }
                return .insufficientAuthentication(acrValues: values, maxAge: maxAge.map { .seconds(Int64($0)) })
            default: continue
            }
        }
        return nil
    }
}
