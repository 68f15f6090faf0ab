import ArgumentParser

/// Which environments take part.
enum EnvironmentChoice: String, CaseIterable, ExpressibleByArgument {
    case staging, production, both

    var names: [String] {
        self == .both ? ["staging", "production"] : [rawValue]
    }
}
