import Nautilus

/// Tells a test of every event, as it comes.
struct EventFeed: CallObserver {
    let events: AsyncStream<CallEvent>
    private let continuation: AsyncStream<CallEvent>.Continuation

    init() {
        (events, continuation) = AsyncStream.makeStream()
    }

    func observe(_ event: CallEvent) {
        continuation.yield(event)
    }

    /// Returns once the first attempt of `count` calls of a request type has begun.
    func waitForCalls(of request: String, count: Int) async {
        var left = count
        for await event in events {
            if case .attemptStarted(let call, number: 1) = event, call.request == request { left -= 1 }
            if left == 0 { return }
        }
    }
}
