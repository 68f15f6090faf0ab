import Foundation
import SessionCommands

/// The state that both transports of a process share: where it is to be killed, and what has gone out.
actor Wire {
    private var kills: Set<WireKill> = []
    private var sent: [Int] = []

    func plan(_ kill: WireKill) {
        kills.insert(kill)
    }

    /// Ends the process if that is planned for here.
    func reach(_ place: WireKill) {
        guard kills.contains(place) else { return }
        kill(getpid(), SIGKILL)
        // The signal may still be on its way.
        while true { pause() }
    }

    /// Notes which access token goes out.
    func note(authorization: String) {
        // "Bearer staging.access.3.…": only the number is told.
        let parts = authorization.split(separator: ".")
        if parts.count == 4, parts[1] == "access", let number = Int(parts[2]) { sent.append(number) }
    }

    /// Returns what has gone out since the last call.
    func takeSent() -> [Int] {
        defer { sent = [] }
        return sent
    }
}

/// A place on the way of a request.
enum WireKill: Hashable, Sendable {
    case beforeSending(SessionFault.Exchange)
    case afterAnswer(SessionFault.Exchange)

    /// The place that a fault means; nil for one of the system.
    init?(_ fault: SessionFault) {
        switch fault {
        case .killBeforeSending(let exchange): self = .beforeSending(exchange)
        case .killAfterAnswer(let exchange): self = .afterAnswer(exchange)
        case .system: return nil
        }
    }
}
