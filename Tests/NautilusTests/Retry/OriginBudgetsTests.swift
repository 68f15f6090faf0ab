import Foundation
import NautilusTesting
import Testing

@testable import Nautilus

@Suite("Budgets by origin")
struct OriginBudgetsTests {
    @Test("an origin has one budget, and another port or scheme is another origin")
    func identity() throws {
        let budgets = OriginBudgets { _ in QuotaBudget(capacity: 14) }
        #expect(try budgets.budget(of: testOrigin("https://api.example.com/notes")).spend())
        #expect(try !budgets.budget(of: testOrigin("https://API.example.com:443/pages")).spend())
        #expect(try budgets.budget(of: testOrigin("https://api.example.com:8443")).spend())
        #expect(try budgets.budget(of: testOrigin("http://api.example.com")).spend())
        #expect(budgets.count == 3)
    }

    @Test("a budget is made for its origin")
    func made() throws {
        let budgets = OriginBudgets { QuotaBudget(capacity: $0.host == "large.test" ? 28 : 14) }
        let large = try budgets.budget(of: testOrigin("https://large.test"))
        let small = try budgets.budget(of: testOrigin("https://small.test"))
        #expect([large.spend(), large.spend(), large.spend()] == [true, true, false])
        #expect([small.spend(), small.spend()] == [true, false])
    }

    @Test("ever new origins do not fill the memory, and what is used often stays")
    func limit() throws {
        let budgets = OriginBudgets(limit: 10) { _ in QuotaBudget(capacity: 14) }
        let often = try testOrigin("https://often.test")
        #expect(budgets.budget(of: often).spend())
        for number in 0..<1000 {
            #expect(try budgets.budget(of: testOrigin("https://once-\(number).test")).spend())
            #expect(!budgets.budget(of: often).spend())
        }
        #expect(budgets.count == 10)
    }
}
