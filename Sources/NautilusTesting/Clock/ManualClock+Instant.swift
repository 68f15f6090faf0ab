extension ManualClock {
    /// A moment on a ``ManualClock``: the time since the clock's zero.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time since the clock's zero.
        public let offset: Duration

        /// Creates a moment; an offset of more than `Int64.max` seconds is taken as that many, for ever.
        public init(_ offset: Duration) {
            self.offset = offset.saturated
        }

        /// The moment that is `duration` later; saturates.
        public func advanced(by duration: Duration) -> Instant {
            Instant(offset + duration.saturated)
        }

        /// The time from here to `other`.
        public func duration(to other: Instant) -> Duration {
            other.offset - offset
        }

        /// Whether `left` is earlier.
        public static func < (left: Instant, right: Instant) -> Bool {
            left.offset < right.offset
        }

        /// The time since the clock's zero.
        public var description: String { offset.description }
    }
}

extension Duration {
    /// Within ±`Int64.max` seconds, where two can be added without an overflow.
    fileprivate var saturated: Duration {
        min(max(self, .seconds(-Int64.max)), .seconds(Int64.max))
    }
}
