/// A value that holds a secret, or what may be one: `print`, the debugger and `dump` show only its description.
///
/// A conforming type only provides a ``description``, which must not show the secret. Without this protocol, reflection
/// would list every stored property, including the secret.
package protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    /// The same as `description`.
    public var debugDescription: String { description }

    /// Shows only the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
