/// Where on the path of a call something failed.
public enum CallStage: String, Hashable, Sendable {
    /// A hook threw before anything was built.
    case hook
    /// Headers, URL and body did not make a request.
    case build
    /// An interceptor threw.
    case intercept
    /// The retrier's last look failed: no credential.
    case prepare
    /// The exchange failed.
    case send
    /// A redirect was refused.
    case redirect
    /// The status was not an accepted one.
    case validate
    /// The body did not decode.
    case decode
    /// Between two attempts: the retrier's decision, or the delay.
    case retry
}
