/// The path of a request below the service's base URL, component by component.
///
/// ```swift
/// var route: HttpRoute { ["users", userId, "notes", 7] }
/// ```
/// A component is data, never a path of its own: `/`, `%`, unicode, and a lone `.` or `..` are percent-encoded.
public struct HttpRoute: Hashable, Sendable, ExpressibleByArrayLiteral {
    /// The components as they were given, before encoding.
    public let components: [String]
    /// Whether the path ends in `/`.
    public let hasTrailingSlash: Bool

    /// Creates a route from its components.
    ///
    /// - Parameters:
    ///   - components: The components, not encoded. An empty one is refused when the request is built, since `/users/`
    ///     addresses something else than `/users/{id}`.
    ///   - trailingSlash: Whether the path ends in `/`. Default: false: with it, most servers see another
    ///     resource.
    public init(_ components: [String], trailingSlash: Bool = false) {
        self.components = components
        self.hasTrailingSlash = trailingSlash
    }

    /// Creates a route from anything that describes itself: strings, numbers, UUIDs, your own identifiers.
    public init(arrayLiteral components: any CustomStringConvertible...) {
        self.init(components.map(\.description))
    }

    /// The path with a leading `/` before every component; empty for no components.
    ///
    /// - Throws: ``InvalidRequest/emptyRouteComponent(index:)``.
    func encoded() throws(InvalidRequest) -> String {
        var path = ""
        for (index, component) in components.enumerated() {
            guard !component.isEmpty else { throw .emptyRouteComponent(index: index) }
            path += "/"
            path += Self.encode(component)
        }
        if hasTrailingSlash { path += "/" }
        return path
    }

    private static func encode(_ component: String) -> String {
        // A dot is unreserved, but a component of dots alone would be resolved away as a path of its own.
        switch component {
        case ".": "%2E"
        case "..": "%2E%2E"
        default: component.percentEncoded
        }
    }
}
