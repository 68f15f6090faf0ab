import Foundation
import FoundationNetworking
import SecurityStandIn

// What URL loading has on Apple's platforms, and not on Linux.

package let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"
package let NSURLAuthenticationMethodClientCertificate = "NSURLAuthenticationMethodClientCertificate"

extension URLProtectionSpace {
    package var serverTrust: SecTrust? { nil }
}

// They are optional requirements there.
extension URLSessionWebSocketDelegate {
    package func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol subprotocol: String?
    ) {}

    package func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) {}
}
