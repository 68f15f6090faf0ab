extension Duration {
    /// The whole nanoseconds of the duration, cut to what can be added to a time stamp.
    ///
    /// Dividing two durations gives a `Double`, which is off by more than a nanosecond after a hundred days.
    package var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = addable.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
