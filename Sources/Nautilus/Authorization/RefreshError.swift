/// Placeholder.
public enum RefreshError: Error, Sendable { case signedOut }
