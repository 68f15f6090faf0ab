import Foundation

/// The copy of the checkout in which the faults are planted. The checkout itself is only read.
struct Copy {
    let root: URL
    let faults: [Fault]
    /// The texts of `Sources`, by path.
    let sources: [String: String]
    var folder: URL { root.appendingPathComponent(".build-planted-faults") }
    /// The faults that do not compile, remembered for the next build, each with the error.
    private var notesOfBuild: URL { folder.appendingPathComponent("uncompilable.txt") }

    /// Builds the copy with all faults.
    ///
    /// - Returns: The tests, and the numbers of the faults that had to be left out, since they do not compile.
    func build() throws -> (tests: URL, leftOut: Set<Int>) {
        let remembered = (try? String(contentsOf: notesOfBuild, encoding: .utf8)) ?? ""
        var keys = Set(remembered.split(separator: "\n").map(String.init))
        try copyOthers()
        // Without the tests at first: they need not be built before all faults compile.
        for options in [[], ["--build-tests"]] {
            while true {
                let output = try plant(without: keys).build(options)
                guard let output else { break }
                let new = faultsToBlame(for: output).filter { !keys.contains($0.key) }
                guard !new.isEmpty else { throw Complaint(description: "\(output)\nerror: the copy does not build") }
                for fault in new { say("does not compile: \(fault)") }
                keys.formUnion(new.map(\.key))
                try keys.sorted().joined(separator: "\n").write(to: notesOfBuild, atomically: true, encoding: .utf8)
            }
        }
        let shown = try run("swift", "build", "--package-path", folder.path, "--show-bin-path").output
        let products = URL(fileURLWithPath: shown.trimmingCharacters(in: .whitespacesAndNewlines))
        let names = try FileManager.default.contentsOfDirectory(atPath: products.path)
        guard let bundle = names.first(where: { $0.hasSuffix(".xctest") }) else {
            throw Complaint(description: "error: the copy has no tests")
        }
        let leftOut = faults.filter { keys.contains($0.key) }.map(\.number)
        return (products.appendingPathComponent(bundle), Set(leftOut))
    }

    /// Writes the sources with the faults.
    private func plant(without keys: Set<String>) throws -> Copy {
        let byFile = Dictionary(grouping: faults.filter { !keys.contains($0.key) }, by: \.file)
        for (path, source) in sources {
            let faults = byFile[(path as NSString).lastPathComponent] ?? []
            try write(planted(faults, in: source), to: path)
            let module = path.split(separator: "/").prefix(2).joined(separator: "/")
            if !faults.isEmpty { try write(switchSource, to: "\(module)/PlantedFault.swift") }
        }
        return self
    }

    /// The output, if the build fails.
    private func build(_ options: [String]) throws -> String? {
        let lean = ["-debug-info-format", "none"]
        let command = ["NAUTILUS_CORNERS=1", "swift", "build", "--package-path", folder.path] + lean + options
        let (status, output) = try run(command)
        return status == 0 ? nil : output
    }

    /// Those whose number stands last before an error in its line, or else first in it, or else last before it at all.
    func faultsToBlame(for output: String) -> [Fault] {
        var numbers: Set<Int> = []
        for error in output.matches(of: #/(?m)^(.+\.swift):(\d+):(\d+): error: /#) {
            guard let line = Int(error.2), let column = Int(error.3),
                let text = try? String(contentsOfFile: String(error.1), encoding: .utf8)
            else { continue }
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            guard lines.indices.contains(line - 1) else { continue }
            let start = String(decoding: lines[line - 1].utf8.prefix(column - 1), as: UTF8.self)
            let number =
                numbersOfFaults(in: start).last ?? numbersOfFaults(in: String(lines[line - 1])).first
                ?? numbersOfFaults(in: lines[..<(line - 1)].joined(separator: "\n")).last
            if let number { numbers.insert(number) }
        }
        return faults.filter { numbers.contains($0.number) }
    }

    private func numbersOfFaults(in text: String) -> [Int] {
        text.matches(of: #/plantedFault\((\d+)\)/#).compactMap { Int($0.1) }
    }

    /// Copies what else is in the checkout, and removes what no longer is.
    private func copyOthers() throws {
        let options = ["-z", "--cached", "--others", "--exclude-standard"]
        let listed = try run(["git", "-C", root.path, "ls-files"] + options).output
        var paths = Set(listed.split(separator: "\0").map(String.init))
        var tests: [String: String] = [:]
        for path in paths where path.hasPrefix("Tests/") && path.hasSuffix(".swift") {
            tests[path] = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
        }
        paths.subtract(tests.keys)
        paths.formUnion(neededTests(for: Set(faults.flatMap(\.suites)), in: tests))
        for path in paths where sources[path] == nil {
            let (from, to) = (root.appendingPathComponent(path), folder.appendingPathComponent(path))
            if let link = try? FileManager.default.destinationOfSymbolicLink(atPath: from.path) {
                try? FileManager.default.removeItem(at: to)
                try createFolder(of: to)
                try FileManager.default.createSymbolicLink(atPath: to.path, withDestinationPath: link)
            } else if let content = try? Data(contentsOf: from) {
                try write(content, to: path)
            }
        }
        for top in ["Sources", "Tests"] {
            let files = FileManager.default.enumerator(atPath: folder.appendingPathComponent(top).path)
            for case let name as String in files ?? .init() where name.hasSuffix(".swift") {
                let path = "\(top)/\(name)"
                if paths.contains(path) || name.hasSuffix("/PlantedFault.swift") { continue }
                try FileManager.default.removeItem(at: folder.appendingPathComponent(path))
            }
        }
    }

    private func write(_ text: String, to path: String) throws { try write(Data(text.utf8), to: path) }

    /// What is the same stays untouched, so that it need not be built again.
    private func write(_ content: Data, to path: String) throws {
        let file = folder.appendingPathComponent(path)
        guard (try? Data(contentsOf: file)) != content else { return }
        try createFolder(of: file)
        try content.write(to: file)
    }

    private func createFolder(of file: URL) throws {
        let folder = file.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
}
