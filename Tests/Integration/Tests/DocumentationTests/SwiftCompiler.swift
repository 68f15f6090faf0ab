import Foundation

/// The compiler that checks the documents, against the modules of the running test build.
enum SwiftCompiler {
    /// Where the modules of this build are; nil when they are not near the running tests.
    static let modules: URL? = {
        // Where the tests are depends on the platform: an executable on Linux, a bundle on macOS.
        let places =
            [Bundle(for: Marker.self).bundleURL, Bundle.main.bundleURL]
            + CommandLine.arguments.filter { $0.hasPrefix("/") }.map { URL(fileURLWithPath: $0) }
        return places.flatMap { Array(sequence(first: $0) { $0.deletingLastPathComponent() }.prefix(5)) }
            .flatMap { [$0.appendingPathComponent("Modules"), $0] }
            .first {
                FileManager.default.fileExists(atPath: $0.appendingPathComponent("Nautilus.swiftmodule").path)
            }
    }()

    /// Where the C module below the library is found, which every importer of the library loads as well.
    private static let cModules = Repository.root.appendingPathComponent("Sources/CNautilusCurl/include")

    private final class Marker {}

    #if os(macOS) || os(Linux)
        /// Whether this platform can run a compiler.
        static let isAvailable = true

        /// Checks a script, which may also import the example's API module.
        ///
        /// - Returns: The compiler's messages, errors and warnings alike; empty when all is well.
        static func complaints(about script: String) async throws -> String {
            guard let modules else { throw NoModules() }
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Documents-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let folders = ["-I", modules.path, "-I", cModules.path]
            let options = platformOptions + ["-swift-version", "6", "-warnings-as-errors"] + folders
            if script.contains("import NotesAPI") {
                let complaints = try await makeNotesAPI(in: folder, options)
                guard complaints.isEmpty else { return complaints }
            }
            // A single file is a script, whatever its name: statements at the top are allowed.
            let file = folder.appendingPathComponent("script.swift")
            try Data(script.utf8).write(to: file)
            return try await output(of: ["-typecheck", "-I", folder.path, file.path] + options, in: folder)
        }

        /// Makes the module of the example's API, which is part of another package.
        private static func makeNotesAPI(in folder: URL, _ options: [String]) async throws -> String {
            let sources = Repository.files(in: "Examples/Sources/NotesAPI", withExtension: "swift")
                .map { Repository.root.appendingPathComponent($0).path }
            let module = folder.appendingPathComponent("NotesAPI.swiftmodule").path
            let kind = ["-emit-module", "-parse-as-library", "-module-name", "NotesAPI", "-emit-module-path", module]
            return try await output(of: kind + options + sources, in: folder)
        }

        /// Runs the compiler to its end, and returns its output, or its exit code when it fails in silence.
        private static func output(of arguments: [String], in folder: URL) async throws -> String {
            // A file, since a pipe would have to be emptied while the compiler runs.
            let log = folder.appendingPathComponent("log")
            try Data().write(to: log)
            let handle = try FileHandle(forWritingTo: log)
            defer { try? handle.close() }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: compiler[0])
            process.arguments = compiler.dropFirst() + arguments
            process.currentDirectoryURL = folder
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = handle
            process.standardError = handle
            let status = try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Int32, any Error>) in
                process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
                do {
                    try process.run()
                } catch {
                    process.terminationHandler = nil
                    continuation.resume(throwing: error)
                }
            }
            let output = try String(contentsOf: log, encoding: .utf8)
            return status != 0 && output.isEmpty ? "The compiler ended with code \(status)." : output
        }
    #else
        static let isAvailable = false

        static func complaints(about script: String) async throws -> String { "There is no compiler here." }
    #endif

    #if os(macOS)
        private static let compiler = ["/usr/bin/xcrun", "swiftc"]

        /// Where Xcode keeps Swift Testing, which is no part of the SDK.
        private static let platformOptions: [String] = {
            let developer =
                ProcessInfo.processInfo.environment["DEVELOPER_DIR"] ?? "/Applications/Xcode.app/Contents/Developer"
            let platform = developer + "/Platforms/MacOSX.platform/Developer"
            let plugins = developer + "/Toolchains/XcodeDefault.xctoolchain/usr/lib/swift/host/plugins/testing"
            return ["-F", platform + "/Library/Frameworks", "-I", platform + "/usr/lib", "-plugin-path", plugins]
        }()
    #elseif os(Linux)
        private static let compiler = ["/usr/bin/env", "swiftc"]
        private static let platformOptions: [String] = []
    #endif

    /// The tests run apart from their build.
    struct NoModules: Error, CustomStringConvertible {
        let description = "Nautilus.swiftmodule is not near the tests; run them with `swift test`."
    }
}
