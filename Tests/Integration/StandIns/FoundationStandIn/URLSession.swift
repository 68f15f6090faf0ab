import Foundation
import FoundationNetworking
import SecurityStandIn

// The parts of URL loading on Apple's platforms that Linux lacks.

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
