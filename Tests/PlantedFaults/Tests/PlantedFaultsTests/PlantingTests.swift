import Testing

@testable import PlantedFaults

@Suite("The planting of faults")
struct PlantingTests {
    @Test("Faults in one place are nested, each behind its number")
    func nested() throws {
        let source = "func f() {\n    if a < b, let c { d() }  // why\n}\n"
        let faults = try numbered(source)
        #expect(
            planted(faults, in: source) == """
                func f() {
                    if (plantedFault(2) ? (true) : ((plantedFault(3) ? (a <= b) : (a < b)))), let c, !plantedFault(1) { d() }  // why
                }

                """
        )
    }

    @Test("A dropped statement keeps what is around it")
    func dropped() throws {
        let source = "func f() { a(); b() }"
        #expect(
            try planted(numbered(source), in: source)
                == "func f() { if !plantedFault(1) { a() }; if !plantedFault(2) { b() } }"
        )
    }

    @Test("Without faults a source stays as it is")
    func nothing() { #expect(planted([], in: "let a = \"ä\"\n") == "let a = \"ä\"\n") }

    @Test("Numbers go on from file to file, and are the same each time")
    func numbers() throws {
        let sources = ["Sources/A/A.swift": "func f() { a() }", "Sources/B/C/B.swift": "func f() { a(); b() }"]
        let list = try ChosenFunctions.list(from: "B.swift: f\nA.swift: *\nby ATests BTests\n")
        let faults = try findFaults(of: list, in: sources)
        #expect(
            faults.map(\.description) == [
                "1 B.swift:1, f: a() -> dropped", "2 B.swift:1, f: b() -> dropped", "3 A.swift:1, f: a() -> dropped",
            ]
        )
        #expect(faults.allSatisfy { $0.suites == ["ATests", "BTests"] })
        #expect(try findFaults(of: list, in: sources) == faults)
    }

    @Test(
        "A list that does not fit the sources is an error",
        arguments: [
            "B.swift: f\nby T", "A.swift: g\nby T", "A.swift: f", "A.swift: f\nby T\nA.swift: *\nby T", "f\nby T",
        ]
    )
    func wrongList(text: String) {
        #expect(throws: Complaint.self) {
            try findFaults(of: ChosenFunctions.list(from: text), in: ["Sources/A/A.swift": "func f() { a() }"])
        }
    }

    @Test("The tests that are built are those that are named, and what they use")
    func testsToBuild() {
        let files = [
            "A": "@Suite struct ATests {\n    @Test func a() { b() }\n}", "B": "func b() {}\n@Test func c() {}",
            "C": "extension T {\n    @Suite struct CTests { @Test func d() {} }\n}", "D": "struct D {}",
        ]
        #expect(neededTests(for: ["ATests"], in: files) == ["A", "B", "D"])
        #expect(neededTests(for: ["CTests"], in: files) == ["C", "D"])
    }

    @Test("A sample has so many faults, in order, and is the same for the same seed")
    func samples() throws {
        let faults = try numbered("func f() {\n\((1...50).map { "a(\($0))" }.joined(separator: "\n"))\n}")
        let chosen = sample(10, of: faults, seed: 7)
        #expect(chosen.count == 10)
        #expect(chosen.map(\.number) == chosen.map(\.number).sorted())
        #expect(sample(10, of: faults, seed: 7) == chosen)
        #expect(sample(10, of: faults, seed: 8) != chosen)
    }

    @Test("The options choose by file, by number and at random")
    func options() throws {
        let faults = try numbered("func f() { a(); b(); c() }")
        #expect(Tool(["--only", "1", "3", "--file", "A.swift"])?.choose(from: faults).map(\.number) == [1, 3])
        #expect(Tool(["--file", "B.swift"])?.choose(from: faults).isEmpty == true)
        #expect(Tool(["--sample", "2", "--seed", "5"])?.choose(from: faults).count == 2)
        for wrong in [["--sample"], ["--seed", "x"], ["--fast"]] { #expect(Tool(wrong) == nil) }
    }

    @Test("Survivors do not count, entries without a fault are named, and the rate is of the rest")
    func report() throws {
        let faults = try numbered("func f() { a(); b(); c() }")
        let survivors = try Survivors(
            "# Head\n\nA.swift, f: b() -> dropped\n    Nobody\n    sees it.\nA.swift, g: x\n    Why.\n"
        )
        #expect(survivors.reasons["A.swift, f: b() -> dropped"] == "Nobody sees it.")
        #expect(survivors.outdated(for: faults) == ["A.swift, g: x"])
        let outcomes: [Outcome] = [.noticed(by: "x"), .notNoticed("no test failed"), .notNoticed("no test failed")]
        let report = Report(Array(zip(faults, outcomes)), survivors)
        #expect(report.rate == 0.5)
        #expect(report.description.contains("not noticed: 3 A.swift:1, f: c() -> dropped"))
        #expect(!report.description.contains("b()"))
        let allNoticed = Report(faults.map { ($0, .noticed(by: "x")) }, survivors)
        #expect(allNoticed.rate == 1)
        #expect(allNoticed.noticedSurvivors.map(\.number) == [2])
    }

    @Test("A survivor without a reason is an error")
    func noReason() {
        for text in ["a() -> dropped\nb() -> dropped\n  Why.", "a() -> dropped\n"] {
            #expect(throws: Complaint.self) { try Survivors(text) }
        }
    }

    /// The faults of all functions of a file `A.swift`.
    private func numbered(_ source: String) throws -> [Fault] {
        let all = ChosenFunctions(file: "A.swift", names: nil, suites: ["T"])
        return try findFaults(of: [all], in: ["Sources/A/A.swift": source])
    }
}
