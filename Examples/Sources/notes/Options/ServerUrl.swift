import ArgumentParser
import Foundation

/// Where a notes server is: scheme, host and port, as it names itself.
struct ServerUrl: ExpressibleByArgument, Hashable, CustomStringConvertible {
    /// Where `notes serve` listens unless it is told otherwise.
    static let standardPort: UInt16 = 8480
    static let standard = "http://127.0.0.1:\(standardPort)"

    let description: String

    init?(argument: String) {
        // The issuer is compared byte by byte, and people type a slash at the end.
        let text = argument.hasSuffix("/") ? String(argument.dropLast()) : argument
        guard let components = URLComponents(string: text), components.host?.isEmpty == false else { return nil }
        guard ["http", "https"].contains(components.scheme), components.path.isEmpty else { return nil }
        guard components.user == nil, components.query == nil, components.fragment == nil else { return nil }
        description = text
    }

    var defaultValueDescription: String { description }
}
