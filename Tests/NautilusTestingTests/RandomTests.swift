import NautilusTesting
import Testing

extension TestKit {
    @Suite("Random sources")
    struct RandomTests {
        @Test("the generator is SplitMix64: its published numbers for the seed 1234567")
        func vectors() {
            var generator = SeededGenerator(seed: 1_234_567)
            let numbers = (0..<5).map { _ in generator.next() }
            #expect(
                numbers == [
                    6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                    4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
                ]
            )
        }

        @Test("the same seed draws the same numbers, another seed others, all in 0..<1")
        func draws() {
            let (one, same, other) = (
                SeededRandomSource(seed: 7), SeededRandomSource(seed: 7), SeededRandomSource(seed: 8)
            )
            let draws = (0..<1000).map { _ in one.nextFraction() }
            #expect(draws == (0..<1000).map { _ in same.nextFraction() })
            #expect(draws != (0..<1000).map { _ in other.nextFraction() })
            #expect(draws.allSatisfy { (0..<1).contains($0) })
            #expect(Set(draws).count == 1000)
        }

        @Test("no draw is lost or given twice to tasks that draw at once")
        func concurrentDraws() async {
            let source = SeededRandomSource(seed: 9)
            let drawn = await withTaskGroup(of: [Double].self) { group in
                for _ in 0..<8 {
                    group.addTask { (0..<500).map { _ in source.nextFraction() } }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
            let again = SeededRandomSource(seed: 9)
            #expect(drawn.sorted() == (0..<4000).map { _ in again.nextFraction() }.sorted())
        }

        @Test("chosen draws come in order and the last repeats")
        func chosen() {
            let source = FixedRandomSource(0, 0.5, 1)
            #expect((0..<5).map { _ in source.nextFraction() } == [0, 0.5, 1, 1, 1])
            #expect(source.drawCount == 5)
        }
    }
}
