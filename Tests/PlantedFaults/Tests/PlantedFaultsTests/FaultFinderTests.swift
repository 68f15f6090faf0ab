import Testing

@testable import PlantedFaults

@Suite("The places of planted faults")
struct FaultFinderTests {
    @Test("A comparison's boundary is moved, and a condition is made false and true")
    func conditions() {
        #expect(
            found("if a < b { f() }") == [
                "a < b -> false", "a < b -> true", "a < b -> a <= b",
            ]
        )
    }

    @Test("A list of conditions is made false as a whole, unless of a guard, and each expression in it true")
    func lists() {
        #expect(
            found("guard let a, a.isOpen, case .b = c else { return }") == [
                "a.isOpen -> true"
            ]
        )
        #expect(
            found("if let a, a.isOpen, case .b = c { return }") == [
                "let a, a.isOpen, case .b = c -> false", "a.isOpen -> true",
            ]
        )
    }

    @Test("The conditions of where and of a ternary are made false and true")
    func furtherConditions() {
        #expect(found("for a in b where a.c { return }") == ["a.c -> false", "a.c -> true"])
        #expect(found("return a ? b : c") == ["a -> false", "a -> true"])
    }

    @Test("A loop is never made endless")
    func loops() {
        #expect(found("while a { b() }").first == "a -> false")
        #expect(!found("while a { b() }").contains("a -> true"))
        #expect(found("while true { return }") == [])
    }

    @Test("An equality is negated, unless its whole condition is made true and false")
    func equality() {
        #expect(found("return a == b") == ["a == b -> a != b"])
        #expect(found("return a !== b") == ["a !== b -> a === b"])
        #expect(found("while a == b { return }") == ["a == b -> false"])
    }

    @Test("Logic is turned round: and, or, not, true")
    func logic() {
        #expect(found("return a && !b") == ["a && !b -> a || !b", "!b -> b"])
        #expect(found("return true") == ["true -> false"])
    }

    @Test("The operators of arithmetic are swapped, also behind a try")
    func arithmetic() {
        #expect(found("return a + 1 * b") == ["a + 1 * b -> a - 1 * b"])
        #expect(found("return try a() - 1") == ["a() - 1 -> a() + 1"])
        #expect(found(#"return a + "b" + c"#) == [])
    }

    @Test("A bound becomes the other, and a default is always taken")
    func boundsAndDefaults() {
        #expect(found("return max(a, b)") == ["max(a, b) -> min(a, b)"])
        #expect(found("return a ?? b") == ["a ?? b -> b"])
    }

    @Test("Calls and assignments are dropped, also in a defer")
    func statements() {
        #expect(
            found("defer { a -= 1 }\nb?.c()\n(d, e) = (f, g)\ntry await h()") == [
                "a -= 1 -> dropped", "b?.c() -> dropped", "(d, e) = (f, g) -> dropped", "try await h() -> dropped",
            ]
        )
    }

    @Test("A statement that may be a value is not dropped, nor one that a declaration needs")
    func values() {
        #expect(found("a.map { b($0) }.c()") == ["a.map { b($0) }.c() -> dropped"])
        #expect(found(of: "func f() -> Int { a() }") == [])
        #expect(found(of: "func f() -> Int { switch a { case .b: c() } }") == [])
        #expect(found(of: "var f: Int { a() }") == [])
        #expect(found(of: "func f() { switch a { case .b: c() } }") == ["c() -> dropped"])
        #expect(found(of: "init() { a = b }") == [])
        #expect(
            found("let a: Int\nif b { a = c } else { a = d; e = f }") == [
                "b -> false", "b -> true", "e = f -> dropped",
            ]
        )
        #expect(found(of: "init() { self.init(a) }") == [])
    }

    @Test("What an if does alone is not dropped: its condition is made false")
    func alone() {
        #expect(found("if let a { b() }") == ["let a -> false"])
        #expect(found("if let a { b() } else { c() }") == ["let a -> false", "b() -> dropped", "c() -> dropped"])
    }

    @Test("Texts, preconditions, availability, defaults of parameters and what is in #if are left alone")
    func leftAlone() {
        #expect(found(#"return "\(a < b)""#) == [])
        #expect(found("precondition(a < b)") == [])
        #expect(found("if #available(macOS 15, *) { return }") == [])
        #expect(found(of: "func f(a: Bool = true) {}") == [])
        #expect(found("#if os(Linux)\na()\n#endif") == [])
    }

    @Test("Only functions that are chosen get faults, by the name of the outermost")
    func choice() {
        let source = "struct S { var a = b < c; func f() { func g() { h() } }; func i() { j() } }"
        let finder = FaultFinder(file: "S.swift", source: source, chosen: ["f"])
        #expect(finder.faults.map(\.key) == ["S.swift, f: h() -> dropped"])
        #expect(finder.names.isSuperset(of: ["f", "i"]))
    }

    @Test("The second place with the same text in a function has a key of its own")
    func occurrences() {
        let finder = FaultFinder(file: "S.swift", source: "func f() {\n    a()\n    a()\n}", chosen: nil)
        #expect(
            finder.faults.map(\.key) == [
                "S.swift, f: a() -> dropped", "S.swift, f: a() -> dropped #2",
            ]
        )
    }

    @Test("A text over several lines is shown on one, without comments")
    func lines() {
        #expect(found("return a  // first\n    // between\n    && b") == ["a && b -> a || b"])
    }
}

/// The faults of a function's body.
func found(_ body: String) -> [String] { found(of: "func f() throws {\n\(body)\n}") }

/// The faults of a source.
func found(of source: String) -> [String] {
    FaultFinder(file: "S.swift", source: source, chosen: nil).faults.map { "\($0.original) -> \($0.changed)" }
}
