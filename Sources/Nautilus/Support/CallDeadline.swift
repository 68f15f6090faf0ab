/// When a call has to be over: known to everything that is done on its way, without being handed on.
///
/// A call that is made within another one (by its retrier, an interceptor, a hook, an asynchronous header) ends with
/// it: nobody is left to take its result. Task-local, so that it reaches tasks which the outer call's cancellation does
/// not: those that are started without structure.
package struct CallDeadline: Sendable {
    /// The deadline of the innermost call that the current task works for, which is the earliest of all; nil when none of
    /// them has one.
    @TaskLocal package static var current: CallDeadline?

    private let limit: Duration
    private let stopwatch: Stopwatch

    /// - Parameters:
    ///   - limit: How long the call may take.
    ///   - stopwatch: Runs since the call began, on the clock of its service.
    package init(_ limit: Duration, on stopwatch: Stopwatch) {
        self.limit = limit.addable
        self.stopwatch = stopwatch
    }

    /// What is left; never negative. A duration and no instant, since the inner call's service may have another clock.
    package var remaining: Duration { max(.zero, limit - stopwatch.elapsed) }
}
