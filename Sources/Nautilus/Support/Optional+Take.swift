extension Optional {
    /// The value, which is nil from now on.
    mutating func take() -> Wrapped? {
        defer { self = nil }
        return self
    }
}
