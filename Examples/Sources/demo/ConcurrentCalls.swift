import Nautilus
import NotesAPI

/// Calls that are made a number at a time.
struct ConcurrentCalls: Sendable {
    let calls: [CallPlan.Call]
    let concurrency: Int

    /// Makes the calls.
    ///
    /// - Parameters:
    ///   - count: How many have ended when `event` happens, in the middle of those that are under way then.
    ///   - event: The action to run; never when `count` is 0.
    func outcomes<S: HttpService>(
        with service: S,
        progress: ProgressLine?,
        after count: Int,
        _ event: () async -> Void
    ) async -> [CallOutcome] where S.RequestError == NotesError {
        await withTaskGroup(of: CallOutcome.self) { group in
            var rest = calls[...]
            for _ in 0..<concurrency {
                guard let call = rest.popFirst() else { break }
                group.addTask { await call.outcome(with: service) }
            }
            var outcomes: [CallOutcome] = []
            for await outcome in group {
                outcomes.append(outcome)
                if outcomes.count == count { await event() }
                await progress?.callEnded(outcome)
                if let call = rest.popFirst() { group.addTask { await call.outcome(with: service) } }
            }
            return outcomes
        }
    }
}

extension CallPlan.Call {
    /// Makes the call and tells how it went.
    fileprivate func outcome<S: HttpService>(with service: S) async -> CallOutcome where S.RequestError == NotesError {
        do throws(NotesError) {
            switch self {
            case .list(let page):
                return CallOutcome(trace: try await ListNotes(page: page).response(with: service).trace)
            case .get(let id):
                return CallOutcome(trace: try await GetNote(id: id).response(with: service).trace)
            case .create(let number):
                let request = CreateNote(title: "Note \(number) of the demo", text: "Grown one chamber at a time.")
                return CallOutcome(trace: try await request.response(with: service).trace)
            }
        } catch {
            return CallOutcome(trace: error.httpError.trace, failure: error.description)
        }
    }
}
