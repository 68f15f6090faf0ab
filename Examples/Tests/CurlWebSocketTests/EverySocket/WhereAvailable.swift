import Testing

extension Trait where Self == ConditionTrait {
    /// Only where the transport can be used.
    static var whereAvailable: Self {
        .enabled(if: SocketsUnderTest.isAvailable, "needs what the transport is built on")
    }
}
