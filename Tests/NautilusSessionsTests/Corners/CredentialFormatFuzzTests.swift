import Foundation
import NautilusTesting
import Testing

@testable import NautilusSessions

/// A hundred thousand inputs that were not written by design: each is answered, with an error of the store if not with a
/// credential. A trap would end the test run.
@Suite("CredentialFormat: contents of a file")
struct CredentialFormatFuzzTests {
    private static let whole = Array(StoredText.current.utf8)

    @Test("random bytes, of any length, are foreign or damaged")
    func random() async {
        var generator = SeededGenerator(seed: 1)
        for number in 1...40_000 {
            await Self.giveWay(number)
            let count = Int.random(in: 0...300, using: &generator)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(Self.readable(bytes) == false)
        }
    }

    @Test("ours, with bytes changed, lost, added or repeated, is read only if it is the same again")
    func mutated() async {
        var generator = SeededGenerator(seed: 2)
        for number in 1...20_000 {
            await Self.giveWay(number)
            let bytes = Self.mutated(Self.whole, using: &generator)
            #expect(Self.readable(bytes) == (bytes == Self.whole))
        }
    }

    @Test("mutated fields whose digest is right are answered all the same")
    func resealed() async throws {
        var generator = SeededGenerator(seed: 3)
        var read = 0
        for number in 1...40_000 {
            await Self.giveWay(number)
            let bytes = Self.mutated(Self.whole, using: &generator)
            let isRead = try #require(Self.readable(bytes, isIntact: true) as Bool?)
            if isRead { read += 1 }
        }
        // Tokens may be anything, so some mutations are credentials; most are not.
        #expect((2_000...20_000).contains(read))
    }

    /// Lets other tests run, which share few threads: theirs may be watching the clock.
    private static func giveWay(_ number: Int) async {
        if number.isMultiple(of: 20) { await Task.yield() }
    }

    /// Whether a credential was read; nil for an error that is none of the three.
    private static func readable(_ bytes: [UInt8], isIntact: Bool = false) -> Bool? {
        do {
            let (data, key) = (Data(bytes), StoredText.key)
            let stored =
                try isIntact
                ? CredentialFormat.decode(intact: data, for: key, place: "p")
                : CredentialFormat.decode(data, for: key, place: "p")
            // Whatever was read can be decoded, or not, and written.
            _ = try? stored.credential(as: [String: String].self)
            _ = "\(stored)"
            _ = try CredentialFormat.encode(stored, for: key, place: "p")
            return true
        } catch .damaged("p"), .foreign("p"), .newerFormat("p", _) {
            return false
        } catch {
            Issue.record(error)
            return nil
        }
    }

    private static func mutated(_ bytes: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let at = Int.random(in: 0..<max(1, bytes.count), using: &generator)
            let end = min(bytes.count, at + Int.random(in: 0...40, using: &generator))
            switch Int.random(in: 0..<6, using: &generator) {
            case 0 where at < bytes.count: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1 where at < bytes.count:
                bytes[at] = Array(#"{}[]":,0123456789-.eE\ntu"#.utf8).randomElement(using: &generator) ?? 0
            case 2: bytes.removeSubrange(min(at, end)..<end)
            case 3: bytes.insert(contentsOf: bytes[min(at, end)..<end], at: min(at, bytes.count))
            case 4: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: min(at, bytes.count))
            default: bytes.removeLast(min(bytes.count, Int.random(in: 0...20, using: &generator)))
            }
        }
        return bytes
    }
}
