import Foundation

extension CredentialStoreError: CustomStringConvertible, LocalizedError {
    /// The failure, its place, and what to do about it.
    public var description: String {
        switch self {
        case .damaged(let place):
            "The credential in \(place) is damaged and cannot be read; sign in again, which replaces it"
        case .foreign(let place):
            "\(place) is not this library's credential for this key, and is left alone; remove it, or store elsewhere"
        case .newerFormat(let place, let version):
            "A newer version of this library has stored \(place), in format \(version); update this one"
        case .undecodable(let type):
            "The stored credential is no \(type); update the app that cannot read it, or sign in again, which replaces it"
        case .sealedOtherwise(let issuer):
            "The stored credential for \(issuer) is encrypted with another key; use that, or sign in again, which replaces it"
        case .notPrivate(let place):
            "Others may enter \(place), or it belongs to another user; give it to this user with mode 0700"
        case .full(let place):
            "There is no room left to store \(place); make some"
        case .notPermitted(let place):
            "The system does not permit access to \(place); grant it, or try again once the device is unlocked"
        case .system(let operation, let place, let code):
            "The system refused \(operation) on \(place): \(Self.words(for: code)); try again once that is mended"
        case .other(let type):
            "The store failed with \(type); see what it means there"
        }
    }

    /// The system's own words for its error numbers; the keychain's statuses are negative, and stay numbers.
    private static func words(for code: Int) -> String {
        code > 0 ? "\(String(cString: strerror(Int32(clamping: code)))) (\(code))" : "status \(code)"
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
