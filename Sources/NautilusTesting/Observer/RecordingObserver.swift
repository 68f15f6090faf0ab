import Nautilus

/// An observer that keeps every event of the calls it observes.
///
/// ```swift
/// let observer = RecordingObserver()
/// …
/// #expect(observer.refreshCount == 1)
/// #expect(observer.traces.map(\.retries) == [2])
/// ```
public final class RecordingObserver: CallObserver {
    private let recorded = Locked<[CallEvent]>([])

    /// Creates an observer that has seen nothing.
    public init() {}

    /// Keeps the event.
    public func observe(_ event: CallEvent) {
        recorded.withLock { $0.append(event) }
    }

    /// Every event, in order of occurrence.
    public var events: [CallEvent] { recorded.withLock { $0 } }

    /// The traces of the calls that have ended, in the order in which they ended.
    public var traces: [CallTrace] {
        events.compactMap { event in
            if case .callEnded(_, let trace) = event { trace } else { nil }
        }
    }

    /// How many refreshes were started.
    public var refreshCount: Int {
        events.count { event in
            if case .refreshStarted = event { true } else { false }
        }
    }
}
