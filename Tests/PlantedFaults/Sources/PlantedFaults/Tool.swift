import Foundation

/// The command.
public struct Tool {
    /// What the command takes.
    public static let usage = """
        usage: swift run --package-path Tests/PlantedFaults planted-faults [OPTION...]
          --list          name the faults, and plant none
          --file F        only those in this file
          --only N...     only those with these numbers
          --sample N      so many of them, chosen at random
          --seed S        the seed of the choice; 1 unless given
        """
    static let leastNoticed = 0.95

    private var isList = false
    private var file: String?
    private var only: Set<Int> = []
    private var count: Int?
    private var seed: UInt64 = 1

    /// Reads the options; nil when they are wrong.
    public init?(_ arguments: [String]) {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            switch option {
            case "--list": isList = true
            case "--file":
                guard let name = rest.popFirst() else { return nil }
                file = name
            case "--only":
                while let number = rest.first.flatMap(Int.init) {
                    only.insert(number)
                    rest = rest.dropFirst()
                }
            case "--sample":
                guard let number = rest.popFirst().flatMap(Int.init) else { return nil }
                count = number
            case "--seed":
                guard let number = rest.popFirst().flatMap(UInt64.init) else { return nil }
                seed = number
            default: return nil
            }
        }
    }

    func choose(from faults: [Fault]) -> [Fault] {
        let named = faults.filter { fault in
            (file ?? fault.file) == fault.file && (only.isEmpty || only.contains(fault.number))
        }
        return count.map { sample($0, of: named, seed: seed) } ?? named
    }

    /// Plants the faults, and runs the tests.
    ///
    /// - Returns: Whether enough of them are noticed.
    public func run(at root: URL) throws -> Bool {
        let lists = root.appendingPathComponent("Tests/PlantedFaults")
        func list(_ name: String) throws -> String {
            try String(contentsOf: lists.appendingPathComponent(name), encoding: .utf8)
        }
        let survivors = try Survivors(list("survivors.txt"))
        let sources = try Self.sources(at: root)
        let faults = try findFaults(of: ChosenFunctions.list(from: list("functions.txt")), in: sources)
        for key in survivors.outdated(for: faults) { say("survivors.txt: no fault is called \(key)") }
        guard !choose(from: faults).isEmpty else { throw Complaint(description: "error: there is no such fault") }
        if isList {
            let chosen = choose(from: faults)
            for fault in chosen { say(survivors.allow(fault) ? "\(fault) (may survive)" : "\(fault)") }
            say("\(chosen.count) faults")
            return true
        }

        let copy = Copy(root: root, faults: faults, sources: sources)
        let (tests, leftOut) = try copy.build()
        if !leftOut.isEmpty { say("\(leftOut.count) faults do not compile, and are left out") }
        let chosen = choose(from: faults.filter { !leftOut.contains($0.number) })
        if count != nil { say("\(chosen.count) faults, chosen with the seed \(seed)") }
        let runs = Runs(tests: tests, folder: copy.folder, survivors: survivors)
        try runs.checkSuites(of: chosen)
        let report = Report(Array(zip(chosen, runs.outcomes(of: chosen))), survivors)
        say(report)
        return report.rate >= Self.leastNoticed
    }

    /// The sources, by their paths.
    static func sources(at root: URL) throws -> [String: String] {
        let files = FileManager.default.enumerator(atPath: root.appendingPathComponent("Sources").path)
        var sources: [String: String] = [:]
        for case let path as String in files ?? .init() where path.hasSuffix(".swift") {
            let file = root.appendingPathComponent("Sources/\(path)")
            sources["Sources/\(path)"] = try String(contentsOf: file, encoding: .utf8)
        }
        return sources
    }
}
