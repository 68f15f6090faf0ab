#if canImport(Testing) && compiler(>=6.1)
    import NautilusTesting
    import Testing

    /// A trait that runs tests of Swift Testing in a `Simulation`: on one thread, in an order that a seed decides, and
    /// on a clock that never waits. On a suite, it applies to each test, and their simulations share nothing.
    /// ```swift
    /// @Test(.simulated) func waitsAsLongAsTheServerAsks() async throws {
    ///     let server = ScriptedTransport(.status(429, header: [.retryAfter: "30"]), .status(201))
    ///     try await PlaceOrder().schedule(with: Shop(transport: server))
    ///     #expect(server.attempts[1].start - server.attempts[0].start >= .seconds(30))
    /// }
    /// ```
    /// Anything that a test creates without naming a clock uses the simulation's. A test on the main actor leaves the
    /// simulation, and so does one that starts an unstructured `Task`, as `Simulation` says.
    public struct SimulatedTrait: TestTrait, SuiteTrait, TestScoping {
        /// The seed of each test's simulation.
        let seed: UInt64

        /// The error that the system running the tests is too old for simulations.
        public struct Unavailable: Error, CustomStringConvertible {
            /// The systems that support simulations.
            public var description: String { "A simulation needs macOS 15, iOS 18, tvOS 18, watchOS 11 or visionOS 2." }
        }

        /// True: the trait is for tests, even when it is on a suite.
        public var isRecursive: Bool { true }

        /// Runs a test in its own simulation.
        ///
        /// - Throws: The error of the test; `SimulationError` when it cannot end; ``Unavailable``.
        public func provideScope(
            for test: Test,
            testCase: Test.Case?,
            performing function: @Sendable () async throws -> Void
        ) async throws {
            guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { throw Unavailable() }
            try await withoutActuallyEscaping(function) { function in
                try await Simulation(seed: seed).run { _ in try await function() }
            }
        }
    }

    extension Trait where Self == SimulatedTrait {
        /// Runs tests in virtual time: first come, first served.
        public static var simulated: Self { simulated(seed: 0) }

        /// Runs tests in virtual time, in the order that a seed decides; 0 means first come, first served.
        ///
        /// To try many orders, run `Simulation` in a test that takes the seed as its argument.
        public static func simulated(seed: UInt64) -> Self { Self(seed: seed) }
    }
#endif
