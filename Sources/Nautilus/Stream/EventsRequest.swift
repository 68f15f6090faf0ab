import Foundation

/// One connection to a stream of events. The result is nil when the server says that there are no more.
struct EventsRequest<Base: Request>: DerivedRequest {
    typealias Result = HttpBodyStream?

    let base: Base
    let lastEventId: String

    var header: HttpHeader {
        var header = base.header
        if header[.accept] == nil { header[.accept] = HttpMimeType.eventStream.description }
        if header["Cache-Control"] == nil { header["Cache-Control"] = "no-store" }
        if !lastEventId.isEmpty { header["Last-Event-ID"] = lastEventId }
        return header
    }
    /// The two successes that mean something to event streams (WHATWG HTML §9.2.3).
    var acceptedStatusCodes: HttpStatusCodes { [200, 204] }

    func decode(_ data: Data) throws -> HttpBodyStream? { HttpBodyStream(data) }

    func decode(_ response: HttpResponse<HttpBodyStream>) async throws -> HttpBodyStream? {
        guard response.status != 204 else { return nil }
        let type = response.header[.contentType].flatMap { HttpMimeType($0)?.essence }
        guard type == HttpMimeType.eventStream.essence else { throw NoEventStream(contentType: type) }
        return response.body
    }
}
