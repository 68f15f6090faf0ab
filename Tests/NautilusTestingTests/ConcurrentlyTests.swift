import NautilusTesting
import TestSupport
import Testing

@Suite("Many calls at once, in a test")
struct ConcurrentlyTests {
    private struct Failure: Error, Equatable {
        let number: Int
    }

    @Test("concurrent calls of a test are under way together, and come back in the order of their numbers")
    func order() async throws {
        try await simulate { simulation in
            let numbers = try await concurrently(50) { number in
                try await simulation.clock.sleep(for: .seconds(50 - number))
                return number
            }
            #expect(numbers == Array(0..<50))
            #expect(simulation.clock.now.offset == .seconds(50))
        }
    }

    @Test("all end before the first error is thrown")
    func failures() async throws {
        try await simulate { simulation in
            let ended = Counter()
            await #expect(throws: Failure(number: 1)) {
                try await concurrently(4) { number in
                    try await simulation.clock.sleep(for: .seconds(4 - number))
                    ended.increment()
                    if number > 0 { throw Failure(number: number) }
                }
            }
            #expect(ended.value == 4)
        }
    }

    @Test("concurrently(0) makes no call", arguments: [0, -1])
    func none(count: Int) async throws {
        #expect(try await concurrently(count) { $0 } == [])
    }
}
