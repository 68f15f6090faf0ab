// Apple's types, as far as a generic password needs them. Bridging does not exist here, so they are Swift's own.

/// A constant of the framework, or text.
package typealias CFString = String
/// Attributes and what is to be done with them.
package typealias CFDictionary = [String: Any]
/// Whatever the keychain returns.
package typealias CFTypeRef = Any
/// How a call ended.
package typealias OSStatus = Int32
