import Foundation
import Nautilus
import NautilusTesting
import Testing

@testable import AppOfXcode26

@MainActor
@Suite("An app with the settings of Xcode 26")
struct AppTests {
    @Test("a model of the main actor loads through an interceptor, a retrier and an observer of the app")
    func loads() async throws {
        let (attempts, log) = AsyncStream.makeStream(of: String.self)
        let lamp = Product(id: 7, name: "Lamp")
        let transport = ScriptedTransport(.status(503), .json(lamp))
        let model = ShopModel(service: ShopService(transport: transport, observer: AttemptLog(lines: log)))

        await model.load(7)
        log.finish()
        var ended: [String] = []
        for await line in attempts { ended.append(line) }

        #expect(model.products == [lamp])
        #expect(model.message == nil)
        #expect(transport.attempts.map { $0.request.header["X-Request-Id"] } == ["attempt-1", "attempt-2"])
        #expect(ended == ["#1 ended", "#2 ended"])
    }

    @Test("a draft inside of a request is encoded, and its answer decoded")
    func adds() async throws {
        let transport = ScriptedTransport(.json(Product(id: 8, name: "Chair")))
        let model = ShopModel(service: ShopService(transport: transport, observer: .none))

        try await model.add("Chair")

        #expect(model.products.map(\.id) == [8])
        #expect(transport.attempts.map(\.request.method) == [.post])
    }

    @Test("an error of the service's own type is caught without a cast")
    func fails() async throws {
        let transport = ScriptedTransport(.status(404), .status(404))
        let model = ShopModel(service: ShopService(transport: transport, observer: .none))

        await model.load(7)

        #expect(model.message == "Sold out.")
        #expect(transport.count == 2)
    }

    @Test("the first call is the README's, line by line")
    func isTheFirstCallOfTheReadme() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let readme = try String(contentsOf: folder.appendingPathComponent("../../../../README.md"), encoding: .utf8)
        let app = folder.appendingPathComponent("../../Sources/AppOfXcode26/FirstCall.swift")
        let block = try #require(readme.components(separatedBy: "```swift\n").dropFirst().first)
        let code = try #require(block.components(separatedBy: "```").first)

        #expect(lines(of: code).count == 11)
        // As the README says.
        let plain = try String(contentsOf: app, encoding: .utf8).replacing("nonisolated ", with: "")
        var left = lines(of: plain)[...]
        for line in lines(of: code) {
            let index = try #require(left.firstIndex(of: line), "the app lacks: \(line)")
            left = left[(index + 1)...]
        }
    }

    private func lines(of code: String) -> [String] {
        code.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
