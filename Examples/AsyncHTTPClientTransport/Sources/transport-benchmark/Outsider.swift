import Foundation

/// A client in another language, compiled where its compiler is installed, and run as a process of its own.
struct Outsider: Sendable {
    let name: String
    private let program: URL

    /// Those that can be compiled here; the others are told of on standard error.
    static func all() -> [Outsider] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("transport-benchmark")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return [
            Outsider("Go's net/http", "client.go", in: folder) { ["go", "build", "-o", $1, $0] },
            Outsider("C over libcurl, without JSON", "client.c", in: folder) { ["cc", "-O2", "-o", $1, $0, "-lcurl"] },
        ].compactMap { $0 }
    }

    /// - Returns: Nil where it cannot be compiled.
    private init?(
        _ name: String,
        _ source: String,
        in folder: URL,
        compile: (_ source: String, _ program: String) -> [String]
    ) {
        let text = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(source)
        let program = folder.appendingPathComponent(source + ".out")
        guard (try? Self.output(of: ["env"] + compile(text.path, program.path))) != nil else {
            FileHandle.standardError.write(Data("\(name) cannot be compiled here.\n".utf8))
            return nil
        }
        (self.name, self.program) = (name, program)
    }

    /// A block of its calls, after a quarter as many that are not counted.
    func sample(_ url: String, calls: Int, atOnce width: Int, connections: Int) throws -> Sample {
        let figures = try Self.output(of: [program.path, url] + [calls, width, connections].map(String.init))
            .split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard figures.count == 2 else { throw Failure(program: name) }
        return Sample(calls: calls, seconds: figures[0], cpuSeconds: figures[1])
    }

    private struct Failure: Error {
        let program: String
    }

    private static func output(of command: [String]) throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: command[0].hasPrefix("/") ? command[0] : "/usr/bin/" + command[0])
        process.arguments = Array(command.dropFirst())
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(program: command[0]) }
        return text
    }
}
