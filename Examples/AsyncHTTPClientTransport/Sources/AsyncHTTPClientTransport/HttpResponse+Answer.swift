import Foundation
import NIOHTTP1
import NautilusHTTP

extension HttpResponse {
    init(_ answer: ClientExchange.Answer, body: Body, url: URL?) {
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

    /// Whether a body follows whose codings are not undone: a transfer coding besides `chunked`, which no request asks
    /// for (RFC 9112 §6.1), or several of the content codings of which the client undoes one.
    func hasUnreadableBody(inAnswerTo method: HttpMethod) -> Bool {
        guard hasBody(inAnswerTo: method) else { return false }
        let coded = codings(in: "Content-Encoding")
        return codings(in: "Transfer-Encoding").contains { $0 != "chunked" }
            || coded.count > 1 && coded.allSatisfy { ["gzip", "x-gzip", "deflate"].contains($0) }
    }

    private func codings(in name: String) -> [String] {
        headers[canonicalForm: name].map { $0.lowercased() }.filter { !$0.isEmpty && $0 != "identity" }
    }

    /// Whether a body follows (RFC 9110 §6.4.1).
    func hasBody(inAnswerTo method: HttpMethod) -> Bool {
        switch status.code {
        case 100..<200, 204, 304: false
        default: method != .head
        }
    }
}
