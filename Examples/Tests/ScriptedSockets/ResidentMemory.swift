import Foundation

/// The memory that this process holds.
public enum ResidentMemory {
    /// How many MiB may be added while a gigabyte is moved: 64 where nothing else runs, as `NAUTILUS_ALONE` says; else half
    /// of it, since other tests' memory cannot be told apart.
    public static let limit = ProcessInfo.processInfo.environment["NAUTILUS_ALONE"] == nil ? 512 : 64

    /// How many MiB it is.
    ///
    /// - Throws: Where there is no `/proc`.
    public static func mebibytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let kibibytes = line?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return kibibytes / 1024
    }
}
