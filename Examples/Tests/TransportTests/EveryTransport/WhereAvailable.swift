import Testing

extension Trait where Self == ConditionTrait {
    /// Runs a suite only where the transport under test can be used.
    static var whereAvailable: Self {
        .enabled(if: TransportUnderTest.isAvailable, "the transport cannot be used on this machine")
    }
}
