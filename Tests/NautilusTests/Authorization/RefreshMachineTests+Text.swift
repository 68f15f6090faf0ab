@testable import Nautilus
@testable import NautilusHTTP

/// The notation of the tables.
extension RefreshMachineTests {
    static func summary(_ action: Machine.Action) -> String {
        switch action {
        case .answer(let result): "answer \(summary(result))"
        case .wait: "wait"
        case .waitOut(let error, let start): "wait until \(start.brief) or \(kind(error))"
        case .failWaiters(let error, let start?): "wait until \(start.brief) or fail \(kind(error))"
        case .failWaiters(let error, nil): "fail \(kind(error))"
        case .resumeWaiters(let result): "resume \(summary(result))"
        case .startRefresh(let flight, let credential):
            "start \(flight.id) from \(credential.restored(as: String.self))"
        case .cancelRefresh(let flight): "cancel \(flight.id)"
        case .end(_, let end): "end \(kind(end))"
        case .announce(.session(let event)): event.summary
        case .announce(.call(.refreshStarted(let generation))): "started \(generation)"
        case .announce(.call(.refreshEnded(let generation))): "ended \(generation.map { "\($0)" } ?? "in vain")"
        case .announce: "unexpected"
        }
    }

    static func summary(_ result: Result<ErasedVersionedCredential, RefreshError>) -> String {
        switch result {
        case .success(let versioned): "\(text(versioned))"
        case .failure(let error): kind(error)
        }
    }

    static func summary(_ state: RefreshState) -> String {
        switch state {
        case .signedOut(nil): "signedOut"
        case .signedOut: "signedOut (expired)"
        case .idle(let held): "idle \(summary(held))"
        case .refreshing(let held, let flight): "refreshing \(summary(held)) by \(flight.id)"
        case .coolingDown(let held, let coolDown):
            "coolingDown \(summary(held))" + (coolDown.overdue.map { " after overdue \($0.flight.id)" } ?? "")
        }
    }

    static func text(_ versioned: ErasedVersionedCredential) -> String {
        "\(versioned.credential.restored(as: String.self))\(versioned.generation)"
    }

    static func summary(_ held: HeldCredential) -> String {
        "\(text(held.versioned))" + (held.isRejected ? " rejected" : "")
    }
}
