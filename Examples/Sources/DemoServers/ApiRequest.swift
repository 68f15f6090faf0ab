import Foundation

/// A request as the routes see it: no socket, no framework.
struct ApiRequest: Sendable {
    var method: String
    var path: String
    var query: [String: String] = [:]
    /// The token of `Authorization: Bearer …`; nil when there is none.
    var bearer: String?
    var idempotencyKey: String?
    var body = Data()
}
