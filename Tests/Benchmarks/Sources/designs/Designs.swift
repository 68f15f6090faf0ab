import Foundation

/// Compares Nautilus with five token layers as people write them.
@main
struct Designs {
    /// Ours last.
    private static let all: [any TokenLayer.Type] = [
        CombineAuthenticator.self, SquidRetriers.self, AuthManagerActor.self, RequestQueue.self,
        TokenAcquisitionService.self, NautilusLayer.self,
    ]

    static func main() async throws {
        let options: Options
        do {
            options = try Options(CommandLine.arguments.dropFirst())
        } catch {
            complain("\(error)\n\(Options.usage)")
            exit(2)
        }
        guard !options.printsUsage else { return print(Options.usage) }
        guard #available(macOS 15, *) else {
            complain("It needs macOS 15: only from there on can an order of tasks be decided.")
            exit(1)
        }
        try await compare(options)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private static func compare(_ options: Options) async throws {
        var blocks: [Block] = []
        for scenario in Scenario.all {
            var rows: [Row] = []
            for design in all { rows.append(try await Storm(scenario: scenario, seed: options.seed).run(design)) }
            blocks.append(Block(scenario: scenario, rows: rows))
        }
        print(try text(of: blocks, options))
        let complaints = blocks.compactMap(\.complaint)
        complaints.forEach(complain)
        if !complaints.isEmpty { exit(1) }
    }

    private static func text(of blocks: [Block], _ options: Options) throws -> String {
        if options.printsJson {
            return try blocks.flatMap(\.rows).map { try JsonLine(row: $0).text }.joined(separator: "\n")
        }
        let heading = """
            \(Scenario.callCount) calls in virtual time, seed \(options.seed). They begin within 250 ms unless it says \
            otherwise; answers take 250 ms to 3 s,
            a refresh takes 200 ms. Nautilus with its default budget and limits, as in the guide to authorization.
            """
        return ([heading] + blocks.map(\.text)).joined(separator: "\n\n")
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }
}
