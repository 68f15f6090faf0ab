/// A token that authorizes a request and cannot be refreshed: the one that client credentials get.
package struct AccessToken: Hashable, Sendable {
    package let value: String
    /// How long it serves, counted from its receipt.
    package let lifetime: Duration
    package let scope: DemoScope
}

extension AccessToken: Redacted {}
