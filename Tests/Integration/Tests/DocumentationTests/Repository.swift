import Foundation

/// The checkout that the tests were built from.
enum Repository {
    /// The folder of `Package.swift`, five levels above this file.
    static let root = (0..<5).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    /// The text of a file, its path taken from the root.
    static func text(of path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// Whether there is a file or a folder.
    static func contains(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appendingPathComponent(path).path)
    }

    /// The paths of all files with this extension in a folder and below, sorted; empty when there is no such folder.
    static func files(in folder: String, withExtension pathExtension: String) -> [String] {
        let names = FileManager.default.enumerator(atPath: root.appendingPathComponent(folder).path) ?? .init()
        return names.compactMap { $0 as? String }
            // A catalogue links to files that are elsewhere.
            .filter { $0.hasSuffix("." + pathExtension) && !$0.contains(".docc/") }
            .map { "\(folder)/\($0)" }
            .sorted()
    }
}
