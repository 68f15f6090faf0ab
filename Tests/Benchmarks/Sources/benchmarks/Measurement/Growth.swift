import Foundation

/// How the time for each byte grows with an input: of what an enemy may send, it must not.
///
/// The shapes that grow most at a glance are measured at 64 KiB and at 1 MiB, in turns; the worst of them is reported.
struct Growth: Measurable {
    /// Above it the time is not linear: what is, is below by what it does once, and above by what memory costs.
    static let limit = 1.5
    static let heading = "Parsers against hostile input, time for each byte of 1 MiB"

    let group: String = Self.heading
    let name: String
    /// The pieces that the input repeats.
    let shapes: [Shape]
    /// Reads an input once; made before the time is taken.
    let make: @Sendable (_ input: String) async throws -> @Sendable () async throws -> Void

    /// An input of any length.
    struct Shape: Sendable {
        let piece: String
        var start = ""
        var end = ""

        /// The beginning of it, on one line.
        var name: String {
            String((start + piece + piece + piece).debugDescription.prefix(24))
        }

        func input(length: Int) -> String {
            let rest = max(0, length - start.utf8.count - end.utf8.count)
            return start + String(repeating: piece, count: rest / piece.utf8.count) + end
        }
    }

    func lines(_ effort: Effort) async throws -> [Line] {
        // One turn each, at an eighth of the lengths, tells which are suspicious.
        var suspects: [(ratio: Double, shape: Shape)] = []
        for shape in shapes {
            suspects.append((try await line(of: shape, rounds: 1, short: 1 << 13).ratio ?? 0, shape))
        }
        var worst: Line?
        let isQuick = effort.isQuick
        for (index, suspect) in suspects.sorted(by: { $0.ratio > $1.ratio }).enumerated() {
            guard index < (isQuick ? 1 : 3), worst?.ratio ?? 0 <= Self.limit else { break }
            let line = try await line(of: suspect.shape, rounds: isQuick ? 3 : 7)
            if line.ratio ?? 0 > worst?.ratio ?? 0 { worst = line }
        }
        return worst.map { [$0] } ?? []
    }

    private func line(of shape: Shape, rounds: Int, short: Int = 1 << 16) async throws -> Line {
        let long = short * 16
        let readShort = try await make(shape.input(length: short))
        let readLong = try await make(shape.input(length: long))
        var (values, references): ([Double], [Double]) = ([], [])
        // One-time setup happens here, before the time is taken.
        try await readShort()
        for _ in 0..<rounds {
            // A single turn is for a first look, and need not be paid for sixteen times.
            let count = rounds == 1 ? 4 : long / short
            references.append(try await Self.time(readShort, repeating: count) / Double(count * short))
            values.append(try await Self.time(readLong, repeating: 1) / Double(long))
        }
        return Line(
            group: group,
            name: shapes.count == 1 ? name : "\(name): \(shape.name), the worst of \(shapes.count)",
            unit: "ns",
            values,
            against: references,
            baseline: "of 64 KiB"
        )
    }

    /// The processor time in nanoseconds.
    private static func time(_ read: () async throws -> Void, repeating count: Int) async throws -> Double {
        let start = ProcessUsage.cpuTime
        for _ in 0..<count { try await read() }
        return (ProcessUsage.cpuTime - start).nanoseconds
    }
}

extension Line {
    /// Whether it is a parser's that takes more time for each byte of a longer input.
    var isSuperlinear: Bool { group == Growth.heading && ratio ?? 0 > Growth.limit }
}
