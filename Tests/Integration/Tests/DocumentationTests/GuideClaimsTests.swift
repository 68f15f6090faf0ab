import Foundation
import Testing

extension Documentation {
    @Suite("Claims of the README and the guides")
    struct GuideClaimsTests {
        @Test("F30: the module of the guide has at most 290 lines, handles both ends of a session, and is observed")
        func wholeModule() throws {
            let guide = try Document(path: "Guides/WholeModule.md")
            let code = guide.swiftBlocks.flatMap(\.code)
            #expect(code.count <= 290)
            let parts = ["isSuperseded", "requiresSignIn", "$0.observer = observer", "observer: observer)", ".events("]
            for part in parts {
                #expect(code.contains { $0.contains(part) }, "\(part) is missing in the code")
            }
            let text = guide.lines.joined(separator: "\n")
            for part in ["`Retry-After`", "`isSuperseded`", "is a feed", "`Last-Event-ID`"] {
                #expect(text.contains(part), "\(part) is not explained")
            }
        }

        @Test("F32: every guide is in the README's list, in the catalogue, and on its first page")
        func linked() throws {
            let readme = try Repository.text(of: "README.md")
            let firstPage = try Repository.text(of: "Sources/Nautilus/Nautilus.docc/Nautilus.md")
            let guides = Repository.files(in: "Guides", withExtension: "md").filter { !$0.contains("Tutorial") }
            #expect(guides.contains("Guides/FromURLSession.md"))
            for guide in guides {
                let name = guide.dropFirst("Guides/".count).dropLast(".md".count)
                #expect(readme.contains("(\(guide))") || readme.contains("(\(guide)#"), "README: \(name)")
                #expect(firstPage.contains("<doc:\(name)>"), "Nautilus.md: \(name)")
                let entry = Repository.root.appendingPathComponent("Sources/Nautilus/Nautilus.docc/\(guide)")
                #expect(FileManager.default.fileExists(atPath: entry.path), "catalogue: \(name)")
            }
        }

        @Test("the guides name every public type of the products")
        func types() throws {
            let guides = try Repository.files(in: "Guides", withExtension: "md").map(Repository.text).joined()
            let words = Set(guides.split { !$0.isLetter && !$0.isNumber }.map(String.init))
            let lists = Repository.files(in: "Tests/Integration/API", withExtension: "txt")
            let declaration = #/(?m)^(\w+) \| (?:@?\w+ )*?(?:struct|class|enum|protocol|actor)\b/#
            var names: Set<String> = []
            for list in lists where !list.contains("/Elsewhere/") {
                names.formUnion(try Repository.text(of: list).matches(of: declaration).map { String($0.output.1) })
            }
            #expect(names.count > 150)
            #expect(names.subtracting(words).sorted() == [])
        }

        @Test("F32: the comparison says of Alamofire and Squid what their sources say")
        func comparison() throws {
            let readme = try Repository.text(of: "README.md").split(separator: "\n").map(String.init)
            func row(_ beginning: String) throws -> [String] {
                let line = try #require(readme.first { $0.hasPrefix("| \(beginning)") })
                return line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            }
            // 0: what, 1: Nautilus, 2: Alamofire, 3: Get, 4: Squid, 5: async-http-client
            let (budget, waiting) = (try row("Retries share a budget"), try row("`Retry-After`, a circuit breaker"))
            #expect(budget[2...4] == ["yours", "yours", "yours"] && waiting[2...4] == ["yours", "yours", "yours"])
            let (retrier, post) = (try row("Each call has a retrier"), try row("A POST is repeated only"))
            #expect(retrier[2] == "yours" && post[2].contains("`RetryPolicy` never repeats a POST"))
            let migration = try Repository.text(of: "Guides/Migration.md")
            #expect(migration.contains("maxAttempts` n + 1"))
            let alamofire = try #require(migration.range(of: "## Alamofire"))
            let squid = try #require(migration.range(of: "## Squid"))
            #expect(alamofire.lowerBound < squid.lowerBound)
            for name in ["AuthenticationInterceptor", "EventMonitor", "validate", "Multipart"] {
                #expect(migration.contains("### \(name)"), "\(name) has no before and after")
            }
        }
    }
}
