import Foundation
import NIOHTTP1
import Nautilus

extension HttpResponse {
    init(_ answer: ClientExchange.Answer, body: Body, url: URL) {
        let fields = answer.head.headers.map {
            HttpHeader.Field(name: HttpHeader.Name($0.name), value: $0.value)
        }
        self.init(status: Int(answer.head.status.code), header: HttpHeader(fields), body: body, url: url)
    }
}

extension ClientExchange.Answer {
    /// How many bytes will be read; nil when it is not known before.
    func bodyLength(of method: HttpMethod) -> Int64? {
        guard head.hasBody(inAnswerTo: method) else { return 0 }
        let encoding = head.headers.first(name: "Content-Encoding")?.lowercased() ?? "identity"
        return encoding == "identity" ? head.contentLength.map(Int64.init) : nil
    }
}

extension HTTPResponseHead {
    /// The length that it announces; nil when it announces none.
    var contentLength: Int? {
        headers.first(name: "Content-Length").flatMap { Int($0) }
    }

    /// Whether a body follows (RFC 9110 §6.4.1).
    func hasBody(inAnswerTo method: HttpMethod) -> Bool {
        switch status.code {
        case 100..<200, 204, 304: false
        default: method != .head
        }
    }
}
