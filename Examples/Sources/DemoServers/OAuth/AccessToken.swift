/// What authorizes a request, without anything to renew it with: what client credentials get.
package struct AccessToken: Hashable, Sendable {
    package let value: String
    /// How long it serves, counted from its receipt.
    package let lifetime: Duration
    package let scope: DemoScope
}

extension AccessToken: Redacted {}
