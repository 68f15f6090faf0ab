import Foundation
import Testing

extension Documentation {
    @Suite("Where the products draw UUIDs")
    struct RandomUUIDRuleTests {
        @Test(
            "the products draw random UUIDs of their own: without a descriptor, Foundation draws the same again and again"
        )
        func everywhere() throws {
            let paths = Repository.files(in: "Sources", withExtension: "swift")
            #expect(paths.count > 100)
            let drawing = try paths.filter { path in
                try Repository.text(of: path).split(separator: "\n").contains { line in
                    line.contains("UUID()") && !line.trimmingCharacters(in: .whitespaces).hasPrefix("///")
                }
            }
            // A name for a server of one's own tests.
            #expect(drawing == ["Sources/NautilusTesting/Conformance/TransportConformance.swift"])
        }
    }
}
