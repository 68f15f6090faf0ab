import ArgumentParser
import NautilusFleets

/// The outage of the server.
enum OutageChoice: String, CaseIterable, ExpressibleByArgument {
    case stalled, slowed, unreachable, failing

    var kind: FleetOutage.Kind {
        switch self {
        case .stalled: .stalled
        case .slowed: .slowed(to: 0.5)
        case .unreachable: .unreachable
        case .failing: .failing(status: 503, share: 1)
        }
    }
}
