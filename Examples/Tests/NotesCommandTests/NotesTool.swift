import ChildProcesses
import Foundation
import Testing

/// The tool as it was built, run as a user runs it.
struct NotesTool: Sendable {
    /// The differences from the environment of the tests.
    var environment: [String: String] = [:]

    /// Runs it to its end. Nothing that it prints may be a token.
    func run(_ arguments: String...) async throws -> ChildProcess.Ending {
        let process = try start(arguments)
        process.closeInput()
        return try await ending(of: process)
    }

    /// Starts it, with an input of its own.
    func start(_ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(try #require(Self.program, "notes is not near the tests"), arguments, environment: environment)
    }

    /// Waits for its end. Nothing that it has printed may be a token.
    func ending(of process: ChildProcess) async throws -> ChildProcess.Ending {
        let ending = await process.ending()
        for kind in ["access", "refresh", "device"] {
            // As the demo server makes them: staging.refresh.1.6e789e6aa1b965f4
            #expect(!(ending.output + ending.errors).contains(".\(kind)."), "it prints a secret: \(kind)")
        }
        return ending
    }

    private final class Marker {}

    /// The executable, beside the tests: these are an executable on Linux, and a bundle on macOS.
    private static let program: URL? = {
        let places =
            [Bundle(for: Marker.self).bundleURL, Bundle.main.bundleURL]
            + CommandLine.arguments.filter { $0.hasPrefix("/") }.map { URL(fileURLWithPath: $0) }
        return places.flatMap { Array(sequence(first: $0) { $0.deletingLastPathComponent() }.prefix(5)) }
            .map { $0.appendingPathComponent("notes") }
            .first { url in
                var isFolder: ObjCBool = false
                return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && !isFolder.boolValue
            }
    }()
}
