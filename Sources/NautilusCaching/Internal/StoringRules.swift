import Foundation
import Nautilus

/// The rules of storing (RFC 9111 §3): a pure function of the request and its answer.
enum StoringRules {
    /// Whether a response to a GET may be kept; §3, condition by condition.
    ///
    /// - Parameters:
    ///   - response: The response, as it would be stored.
    ///   - request: The request's `Cache-Control`.
    ///   - lifetime: How long it would be fresh, in seconds.
    ///   - staleIfError: For how long the response may stand in for a failed answer if it does not say so itself, in
    ///     seconds.
    static func allows(
        _ response: StoredResponse,
        request: CacheControl,
        lifetime: Int64,
        staleIfError: Int64
    ) -> Bool {
        // The response has to be final and whole; a 304 is about a response that is stored already. An error of the server
        // is no answer to anybody who asks later.
        guard (200...499).contains(response.status), ![206, 304].contains(response.status) else { return false }
        // A redirect answers one request only; following it for another would be wrong.
        if [301, 302, 303, 307, 308].contains(response.status) { return false }
        // These are about one credential, not about the resource: a new credential would be refused without being
        // tried.
        if [401, 407].contains(response.status) { return false }
        if request.noStore { return false }
        if response.control.mustUnderstand {
            // §5.2.2.3: a cache that understands the status may ignore the `no-store` next to `must-understand`.
            guard StoredResponse.heuristicStatuses.contains(response.status) else { return false }
        } else if response.control.noStore {
            return false
        }
        let control = response.control
        guard
            control.isStorable || control.maxAge != nil || response.header[.expires] != nil
                || StoredResponse.heuristicStatuses.contains(response.status)
        else { return false }
        // A response that can be neither served nor validated would be kept for nothing.
        if response.mustBeValidated { return response.hasValidator }
        if lifetime > 0 || response.hasValidator || (control.staleWhileRevalidate ?? 0) > 0 { return true }
        // RFC 5861 §4: the response may be useful while the server fails.
        return !control.mustRevalidate && control.staleIfError ?? staleIfError > 0
    }
}
