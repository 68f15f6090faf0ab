import Foundation

/// The place in which a ``ServiceSwitch`` keeps the name of the selected environment, from one launch to the next.
public struct SelectionMemory: Sendable {
    let load: @Sendable () -> String?
    let save: @Sendable (String) -> Void

    /// Keeps the name wherever you like: a file, an argument of the command line, a launch argument of a test.
    ///
    /// - Parameters:
    ///   - load: The name that was saved last; nil when none was. Asked once, when the switch is made.
    ///   - save: Keeps a name. It is called for one selection after the other, on the thread that selects.
    public init(load: @escaping @Sendable () -> String?, save: @escaping @Sendable (String) -> Void) {
        (self.load, self.save) = (load, save)
    }

    /// Keeps the name in the user's defaults.
    ///
    /// - Parameters:
    ///   - key: The name of the default.
    ///   - suite: The suite of the defaults, as for `UserDefaults(suiteName:)`: an app group's, so that its extensions
    ///     select the same. Default: nil, the app's own, which also holds where there is no such suite.
    public static func userDefaults(_ key: String, suite: String? = nil) -> SelectionMemory {
        // Made anew each time: it is not known to be safe to share on every platform.
        let defaults: @Sendable () -> UserDefaults = { suite.flatMap { UserDefaults(suiteName: $0) } ?? .standard }
        return SelectionMemory {
            defaults().string(forKey: key)
        } save: {
            let defaults = defaults()
            defaults.set($0, forKey: key)
            #if !canImport(Darwin)
                // There, they are not written by themselves when the process ends.
                _ = defaults.synchronize()
            #endif
        }
    }
}
