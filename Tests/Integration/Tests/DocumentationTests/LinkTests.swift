import Foundation
import Testing

extension Documentation {
    @Suite("Links of the documents")
    struct LinkTests {
        @Test("every relative link leads to a file, and to a heading if it names one", arguments: Document.all)
        func leadsSomewhere(path: String) throws {
            for complaint in try Self.complaints(about: Document(path: path)) { Issue.record("\(complaint)") }
        }

        @Test("a link to a missing file or heading is found, with its line; one inside code is not a link")
        func findsBroken() throws {
            let document = Document(
                path: "Guides/A.md",
                text: """
                    # One two, three!
                    [here](#one-two-three) [there](../README.md) [away](https://example.com/x)
                    [gone](Nowhere.md), [lost](#four)
                    ```text
                    [code](Nowhere.md)
                    ```
                    """
            )
            #expect(
                try Self.complaints(about: document) == [
                    "Guides/A.md:3: there is no Guides/Nowhere.md", "Guides/A.md:3: there is no heading four",
                ]
            )
        }

        private static func complaints(about document: Document) throws -> [String] {
            try document.links.compactMap { link in
                let place = "\(document.path):\(link.line)"
                let path = Self.resolve(link.path, from: document.path)
                guard link.path.isEmpty || Repository.contains(path) else { return "\(place): there is no \(path)" }
                guard let anchor = link.anchor else { return nil }
                let target = link.path.isEmpty ? document : try Document(path: path)
                return target.anchors.contains(anchor) ? nil : "\(place): there is no heading \(anchor)"
            }
        }

        private static func resolve(_ path: String, from document: String) -> String {
            var components = document.split(separator: "/").dropLast().map(String.init)
            for component in path.split(separator: "/") {
                if component == ".." { _ = components.popLast() } else { components.append(String(component)) }
            }
            return components.joined(separator: "/")
        }
    }
}
