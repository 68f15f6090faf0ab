extension Duration {
    /// The duration, cut to what can be added to a time stamp: from zero to a hundred years.
    ///
    /// Sums of durations trap on overflow, clocks count nanoseconds in 64 bits, and lifetimes, pauses and "for ever" come
    /// from servers and users. `Int64`, since an `Int` has 32 bits on some watches.
    package var addable: Duration {
        max(.zero, min(self, .seconds(Int64(3_155_760_000))))
    }
}
