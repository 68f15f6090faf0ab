extension Duration {
    /// The duration for people, cut to thousandths: `412 µs`, `850 ms`, `1.250 s`, `90 s`.
    package var brief: String {
        let (seconds, attoseconds) = components
        let milliseconds = attoseconds / 1_000_000_000_000_000
        let microseconds = attoseconds / 1_000_000_000_000
        if seconds == 0, milliseconds == 0, microseconds != 0 { return "\(microseconds) µs" }
        if seconds == 0 { return "\(milliseconds) ms" }
        if milliseconds == 0 { return "\(seconds) s" }
        let sign = seconds < 0 || milliseconds < 0 ? "-" : ""
        let fraction = String(1000 + milliseconds.magnitude).dropFirst()
        return "\(sign)\(seconds.magnitude).\(fraction) s"
    }
}
