extension Duration {
    /// The duration, cut to what can be added to a time stamp: from zero to some 35 000 years.
    ///
    /// Sums of durations trap on overflow, and lifetimes and pauses come from servers.
    package var addable: Duration {
        max(.zero, min(self, .seconds(1 << 40)))
    }
}
