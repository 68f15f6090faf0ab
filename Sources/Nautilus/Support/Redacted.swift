/// A value that holds a secret, or what may be one: print, debugger and `dump` show its description and nothing else.
///
/// A type gives its ``description`` alone, which must not show the secret; reflection would otherwise list every stored
/// property, the secret among them.
package protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    /// The same as `description`.
    public var debugDescription: String { description }

    /// The description alone.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
