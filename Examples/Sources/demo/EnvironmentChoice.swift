import ArgumentParser

/// Which environments take part.
enum EnvironmentChoice: String, CaseIterable, ExpressibleByArgument {
    case staging, production, both
    /// One after the other: a switch is turned in the middle of the calls.
    case switched

    var names: [String] {
        switch self {
        case .staging, .production: [rawValue]
        case .both, .switched: ["staging", "production"]
        }
    }
}
