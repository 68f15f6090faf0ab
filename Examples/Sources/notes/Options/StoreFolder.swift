import Foundation

/// Where the credential is kept unless the user says otherwise.
enum StoreFolder {
    static func standard(environment: [String: String] = ProcessInfo.processInfo.environment) -> URL {
        state(environment).appendingPathComponent("notes").appendingPathComponent("credentials")
    }

    /// Where programs keep what must outlive them and is no document.
    private static func state(_ environment: [String: String]) -> URL {
        let home = FileManager.default.homeDirectoryForCurrentUser
        #if os(macOS)
            return home.appendingPathComponent("Library/Application Support")
        #else
            // The XDG base directory specification: a relative path counts as none.
            if let folder = environment["XDG_STATE_HOME"], folder.hasPrefix("/") {
                return URL(fileURLWithPath: folder)
            }
            return home.appendingPathComponent(".local/state")
        #endif
    }
}
