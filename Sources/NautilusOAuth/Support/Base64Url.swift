import Foundation

extension String {
    /// `bytes` in base64url without padding (RFC 4648 §5, RFC 7636 appendix A): fit for URLs and forms as it is.
    init(base64Url bytes: [UInt8]) {
        self = Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
