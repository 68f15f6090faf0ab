import Foundation

/// How the time for each byte grows with an input: of what an enemy may send, it must not.
///
/// Every shape is measured at 64 KiB and at sixteen times that, in turns; reported is the one that grows most.
struct Growth: Measurable {
    /// Above it the time is not linear: what is, is below by what it does once, and above by what memory costs.
    static let limit = 1.5
    static let heading = "Parsers against hostile input, time for each byte of 1 MiB"

    let group: String = Self.heading
    let name: String
    /// What the input consists of, over and over.
    let shapes: [Shape]
    /// Reads an input once; made before the time is taken.
    let make: @Sendable (_ input: String) async throws -> @Sendable () async throws -> Void

    /// An input of any length.
    struct Shape: Sendable {
        let piece: String
        var start = ""
        var end = ""

        func input(length: Int) -> String {
            let rest = max(0, length - start.utf8.count - end.utf8.count)
            return start + String(repeating: piece, count: rest / piece.utf8.count) + end
        }
    }

    func lines(_ effort: Effort) async throws -> [Line] {
        var worst: Line?
        for shape in shapes {
            let line = try await line(of: shape, rounds: min(effort.rounds, 7))
            if ProcessInfo.processInfo.environment["GROWTH_ALL"] != nil {  // SCRATCH
                FileHandle.standardError.write(Data("   \(line.ratio.map { String(format: "%.2f", $0) } ?? "-") \(line.value.map { String(format: "%.2f ns", $0) } ?? "-") \(name) \((shape.start + "|" + shape.piece + "|" + shape.end).debugDescription.prefix(60))\n".utf8))
            }
            if line.ratio ?? 0 > worst?.ratio ?? 0 { worst = line }
        }
        return worst.map { [$0] } ?? []
    }

    private func line(of shape: Shape, rounds: Int) async throws -> Line {
        let (short, long) = rounds < 7 ? (1 << 14, 1 << 18) : (1 << 16, 1 << 20)
        let readShort = try await make(shape.input(length: short))
        let readLong = try await make(shape.input(length: long))
        var (values, references): ([Double], [Double]) = ([], [])
        for _ in 0..<rounds {
            references.append(try await Self.time(readShort, repeating: long / short) / Double(long))
            values.append(try await Self.time(readLong, repeating: 1) / Double(long))
        }
        return Line(
            group: group,
            name: shapes.count == 1 ? name : "\(name), worst of \(shapes.count) shapes: \(shape.start)\(shape.piece)…",
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
