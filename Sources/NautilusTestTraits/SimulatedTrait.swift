#if canImport(Testing) && compiler(>=6.1)
    import NautilusTesting
    import Testing

    /// Runs tests of Swift Testing in a `Simulation`: on one thread, in an order that a seed decides, and on a clock that never
    /// waits.
    ///
    /// ```swift
    /// @Suite(.simulated) struct OrderTests {
    ///     let server = ScriptedTransport()
    ///
    ///     @Test func waitsAsLongAsTheServerAsks() async throws {
    ///         server.on(.post, "/orders", .status(429, header: [.retryAfter: "30"]), .status(201))
    ///         try await PlaceOrder().schedule(with: Shop(transport: server))
    ///         #expect(server.attempts[1].start - server.attempts[0].start >= .seconds(30))
    ///     }
    /// }
    /// ```
    /// What a test makes and gives no clock has the simulation's. On a suite it counts for each of its tests, whose simulations
    /// have nothing in common.
    ///
    /// A test on the main actor, or one that starts an unstructured `Task`, leaves the simulation there, as `Simulation` says.
    public struct SimulatedTrait: TestTrait, SuiteTrait, TestScoping {
        /// The seed of each test's simulation.
        let seed: UInt64

        /// The system that the tests run on is older than simulations.
        public struct Unavailable: Error, CustomStringConvertible {
            /// The systems that it takes.
            public var description: String { "A simulation needs macOS 15, iOS 18, tvOS 18, watchOS 11 or visionOS 2." }
        }

        /// True: it is for tests, also where it stands at a suite.
        public var isRecursive: Bool { true }

        /// Runs a test in a simulation of its own.
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

        /// Runs tests in virtual time, in the order of a seed; 0 means first come, first served.
        ///
        /// For many orders, run `Simulation` in a test that has the seed for its argument.
        public static func simulated(seed: UInt64) -> Self { Self(seed: seed) }
    }
#endif
