import Foundation
import Nautilus

/// A transport for small replies: one that is larger is given up while it comes, before it fills the memory.
struct LimitedTransport: HttpTransport {
    let base: any HttpTransport
    /// In bytes.
    var limit = ReplyFields.sizeLimit

    var sharedObjects: [any AnyObject & Sendable] { base.sharedObjects }

    func noteFacts<R: Request>(of request: R, in facts: inout CallFacts) { base.noteFacts(of: request, in: &facts) }

    /// Reads the reply up to the limit; nothing of one whose header says that it is larger.
    ///
    /// - Throws: `TransportError.responseTooLarge(limit:)`; the transport's errors.
    func send(_ request: HttpRequest, context: AttemptContext) async throws -> HttpResponse<Data> {
        let response = try await base.stream(request, context: context)
        if let length = response.header.values(of: .contentLength).first.flatMap({ Int($0) }), length > limit {
            throw TransportError.responseTooLarge(limit: limit)
        }
        var body = Data()
        for try await chunk in response.body {
            guard body.count + chunk.count <= limit else { throw TransportError.responseTooLarge(limit: limit) }
            body.append(chunk)
        }
        return response.replacingBody(body)
    }
}
