import Testing

extension Documentation {
    @Suite("The list of cases")
    struct CaseTests {
        @Test("every case of the list that is not open names tests that are there and say its number")
        func hasTests() throws {
            let cases = try CaseList(Repository.text(of: "Tests/CASES.md"))
            #expect(cases.complaints(about: try Self.tests()).isEmpty)
            #expect(cases.rows.count >= 83)
        }

        @Test("every number that a test's name begins with is in the list")
        func isKnown() throws {
            let known = Set(try CaseList(Repository.text(of: "Tests/CASES.md")).rows.map(\.number))
            for test in try Self.tests() where !known.isSuperset(of: test.numbers) {
                Issue.record("\(test.name) names \(Set(test.numbers).subtracting(known).sorted())")
            }
        }

        @Test("a case without a test, with one that is gone or another's, twice there, or open no more is found")
        func finds() {
            let list = CaseList(
                """
                | # | input | expected | shown by |
                |---|---|---|---|
                | A1 | x | y | `OneTests/first`, `OneTests/second` |
                | A2 | x | y | `OneTests/gone` |
                | A3 | x | y |  |
                | A1 | x | y | `OneTests/first` |
                | A4 | x | y | open |
                | A5 | x | y | open |
                """
            )
            let source = """
                @Test("A1, A2, A4: it does") func first() {}
                @Test(
                    "no case at all"
                )
                func second() {}
                """
            #expect(
                list.complaints(about: CaseTest.tests(in: source, of: "OneTests")) == [
                    "A1: OneTests/second does not begin its name with the number", "A2: there is no OneTests/gone",
                    "A3: no test shows it", "A1: it is there twice", "A4: it is not open: OneTests/first shows it",
                ]
            )
        }

        private static func tests() throws -> [CaseTest] {
            let paths = ["Tests", "Examples/Tests"].flatMap { Repository.files(in: $0, withExtension: "swift") }
            return try paths.filter { !$0.contains("/.build") }.flatMap { path in
                let file = path.split(separator: "/").last?.dropLast(".swift".count) ?? ""
                return CaseTest.tests(in: try Repository.text(of: path), of: String(file))
            }
        }
    }
}

/// The tables of `CASES.md`.
private struct CaseList {
    struct Row {
        let number: String
        /// The tests that show it, as file and function.
        let tests: [String]
        /// Whether no test shows it yet, and the list says so.
        let isOpen: Bool
    }

    let rows: [Row]

    init(_ text: String) {
        rows = text.split(separator: "\n").compactMap { line in
            guard let match = line.firstMatch(of: /^\| ([A-Z]\d+[a-z]?) \|.*\|([^|]*)\|$/) else { return nil }
            let tests = match.output.2.matches(of: /`([^`]+)`/).map { String($0.output.1) }
            return Row(number: String(match.output.1), tests: tests, isOpen: match.output.2 == " open ")
        }
    }

    func complaints(about tests: [CaseTest]) -> [String] {
        let named = Dictionary(grouping: tests, by: \.name)
        var seen: Set<String> = []
        return rows.flatMap { row -> [String] in
            if !seen.insert(row.number).inserted { return ["\(row.number): it is there twice"] }
            if row.isOpen {
                return tests.filter { $0.numbers.contains(row.number) }
                    .map { "\(row.number): it is not open: \($0.name) shows it" }
            }
            if row.tests.isEmpty { return ["\(row.number): no test shows it"] }
            return row.tests.compactMap { name in
                guard let found = named[name] else { return "\(row.number): there is no \(name)" }
                let isNumbered = found.contains { $0.numbers.contains(row.number) }
                return isNumbered ? nil : "\(row.number): \(name) does not begin its name with the number"
            }
        }
    }
}

/// A test of the repository, with the numbers of the cases that its name begins with.
private struct CaseTest {
    /// File and function.
    let name: String
    let numbers: [String]

    static func tests(in source: String, of file: String) -> [CaseTest] {
        source.matches(of: /@Test\(\s*"(?:([A-Z]\d+[a-z]?(?:, [A-Z]\d+[a-z]?)*): )?/).compactMap { match in
            guard let function = source[match.range.upperBound...].firstMatch(of: /func (\w+)/) else { return nil }
            let numbers = match.output.1?.split(separator: ", ").map(String.init) ?? []
            return CaseTest(name: "\(file)/\(function.output.1)", numbers: numbers)
        }
    }
}
