import BenchmarkServer
import Foundation
import Nautilus

/// A transport that returns at once: what is left is the cost of the framework.
struct InstantTransport: HttpTransport {
    private let response: HttpResponse<Data>

    /// Creates a transport whose answers have these fields besides the usual ones.
    ///
    /// - Parameters:
    ///   - fields: The fields.
    ///   - dated: Whether they have a date, which is always the same: for a cache, they are ever older.
    init(adding fields: HttpHeader = [:], dated: Bool = true) {
        var header: HttpHeader = ["Content-Type": "application/json"]
        if dated { header[.date] = "Sat, 21 Nov 2026 04:18:07 GMT" }
        response = HttpResponse(status: 200, header: header.merging(fields), body: Note.json)
    }

    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        response
    }
}
