/// The deadline of the call that the current task works for.
public enum CallDeadline {
    /// The time left until the deadline, never negative, for a retrier or an interceptor that is about to wait.
    ///
    /// Nil if the call has no deadline, outside of all calls, and in another task started within the call: a deadline
    /// does not bind tasks that may outlive the call. Child tasks are ended by the cancellation of the call's task.
    public static var remaining: Duration? { CallScope.current?.remaining }
}
