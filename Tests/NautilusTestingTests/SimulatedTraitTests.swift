#if compiler(>=6.1)
    import Nautilus
    import NautilusTestTraits
    import NautilusTesting
    import Testing

    @Suite("A test in virtual time", .simulated(seed: 7))
    struct SimulatedTraitTests {
        let server = ScriptedTransport(.status(503, header: [.retryAfter: "3600"]), .status(200))

        @Test(
            "a test in virtual time has a clock that never waits, and starts at zero for each argument",
            arguments: 1...3
        )
        func delays(argument: Int) async throws {
            let service = AnyHttpService(
                apiUrl: "a.com",
                retrierFactory: BackoffRetrier.factory(.standard.with { $0.retryAfterCap = .seconds(7200) }),
                transport: server
            )
            try await AnyRequest(.get, ["things"]).schedule(with: service)
            let starts = server.attempts.map(\.start)
            #expect(starts.first == .zero)
            #expect(starts.last.map { $0 >= .seconds(3600) && $0 < .seconds(7200) } == true)
        }

        @Test("a test in virtual time sleeps for a year at once, on the default clock")
        func year() async throws {
            let start = DefaultClock.date
            try await DefaultClock.current.sleep(for: .seconds(31_536_000))
            #expect(DefaultClock.date.timeIntervalSince(start) == 31_536_000)
        }

        @Test("a test in virtual time runs on one thread")
        func order() async {
            let order = await withTaskGroup(of: Int.self) { group in
                for index in 1...20 { group.addTask { index } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            // The order of seed 7, whenever and wherever it is run.
            #expect(order != Array(1...20))
            #expect(order.sorted() == Array(1...20))
        }
    }

    @Suite("Tests beside one in virtual time")
    struct UnsimulatedTests {
        @Test("a test with the trait has a simulation's clock", .simulated)
        func traited() { #expect(!(DefaultClock.current is ContinuousClock)) }

        @Test("a test without the trait has the system's clock")
        func plain() { #expect(DefaultClock.current is ContinuousClock) }
    }
#endif
