import Foundation
import Nautilus

/// Takes a body `error:503` for the status that the answer should have had, `error:429:2` with a `Retry-After`.
struct WordedRequest: Request {
    typealias Result = String
    var acceptedStatusCodes: HttpStatusCodes = .success

    var route: HttpRoute { ["things"] }
    var timeout: Duration? { nil }

    func status(of response: HttpResponse<Data>) -> AnswerStatus {
        let parts = String(decoding: response.body, as: UTF8.self).split(separator: ":")
        guard parts.count > 1, parts[0] == "error", let status = Int(parts[1]) else {
            return AnswerStatus(response.status)
        }
        let wait = parts.count > 2 ? Int(parts[2]).map { Duration.seconds($0) } : nil
        return AnswerStatus(status, retryAfter: wait)
    }

    func decode(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
}

/// How a call ended, in a word or two.
func outcome<R: Request>(of request: R, with service: AnyHttpService<HttpError>) async -> String
where R.Result == String {
    do throws(HttpError) {
        return try await request.schedule(with: service)
    } catch {
        return "\(error.kind)"
    }
}

/// How often calls that were made at once ended in which way.
func outcomes<R: Request>(of count: Int, _ request: R, with service: AnyHttpService<HttpError>) async -> [String: Int]
where R.Result == String {
    await withTaskGroup(of: String.self) { group in
        for _ in 0..<count { group.addTask { await outcome(of: request, with: service) } }
        return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
}
