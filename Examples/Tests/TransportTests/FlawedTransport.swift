import Foundation
import Nautilus
import NautilusURLSession

/// A transport that breaks a promise on purpose.
actor FlawedTransport: HttpTransport {
    /// The promise that is broken.
    enum Flaw: CaseIterable {
        case throwsForStatuses, followsRedirects, keepsOneValue, joinsCookies, cutsBodies, fillsEmptyBodies, forgetsUrl
        case dropsQuery, getsForHead, dropsHeader, dropsBody
        case swapsDelivery, renamesCancellation, sendsWhenCancelled, givesUpAfterFailure
        case keepsCookies, remembersAnswers
        case refusesAtLimit, ignoresLimit, limitsHead
        case emptiesStreams
        case forgetsAnswers, passesCodedBytes, failsBrokenStreams
    }

    private let flaw: Flaw
    private let limit: Int?
    private let transport: URLSessionTransport
    private var cookie: String?
    private var answers: [String: HttpResponse<Data>] = [:]
    private var failure: (any Error)?

    init(_ flaw: Flaw, limit: Int? = nil) {
        (self.flaw, self.limit) = (flaw, limit)
        let taken = flaw == .ignoresLimit ? nil : limit.map { flaw == .refusesAtLimit ? $0 - 1 : $0 }
        self.transport = URLSessionTransport(configuration: taken.map { .init(responseLimit: $0) } ?? .init())
    }

    func send(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<Data> {
        if let failure { throw failure }
        // Not for what never ends: that cancellation would be waited for forever.
        if flaw == .sendsWhenCancelled, Task.isCancelled, request.url.path != "/hang" {
            _ = try await Task { try await transport.send(request, context: context) }.value
            throw CancellationError()
        }
        do {
            // A context of its own: nobody learns which answer has arrived.
            let isBroken = flaw == .forgetsAnswers && request.hasBrokenAnswer
            let noted = isBroken ? TransportContext(number: context.number) : context
            let response = try await transport.send(spoiled(request), context: noted)
            return try await spoiled(response, to: request, context)
        } catch {
            if flaw == .givesUpAfterFailure { failure = error }
            if flaw == .passesCodedBytes, request.url.path == "/transfer-coded/200" {
                return HttpResponse(status: 200, header: [:], body: Data([0x1F, 0x8B]), url: request.url)
            }
            throw spoiled(error)
        }
    }

    func stream(_ request: HttpRequest, context: TransportContext) async throws -> HttpResponse<HttpBodyStream> {
        if flaw == .failsBrokenStreams, request.hasBrokenAnswer {
            throw TransportError.failed(.badServerResponse, delivery: .maybeExecuted, reason: "broken")
        }
        do {
            let response = try await transport.stream(spoiled(request), context: context)
            return response.replacingBody(spoiled(response.body))
        } catch {
            throw spoiled(error)
        }
    }

    private func spoiled(_ body: HttpBodyStream) -> HttpBodyStream {
        switch flaw {
        case .emptiesStreams: HttpBodyStream(Data())
        case .cutsBodies: HttpBodyStream(once: SpoiledChunks(of: body, limit: 100_000) { $0 })
        default: HttpBodyStream(once: SpoiledChunks(of: body, limit: .max, spoiled))
        }
    }

    private func spoiled(_ request: HttpRequest) -> HttpRequest {
        var request = request
        switch flaw {
        case .dropsQuery: request.url = request.url.replacingPath(by: request.url.path)
        case .getsForHead where request.method == .head: request.method = .get
        case .dropsHeader: request.header = [:]
        case .dropsBody: request.body = .empty
        case .keepsCookies: request.header[.cookie] = cookie ?? request.header[.cookie]
        default: break
        }
        return request
    }

    private func spoiled(
        _ response: HttpResponse<Data>,
        to request: HttpRequest,
        _ context: TransportContext
    ) async throws -> HttpResponse<Data> {
        var response = response
        switch flaw {
        case .throwsForStatuses where response.status >= 400:
            throw TransportError.failed(.badServerResponse, delivery: .maybeExecuted, reason: "status")
        case .followsRedirects where response.status == 302:
            let next = HttpRequest(url: request.url.replacingPath(by: response.header[.location] ?? "/"))
            return try await transport.send(next, context: context)
        case .keepsOneValue:
            let values = response.header["X-Multi"]?.split(separator: ",")
            response.header["X-Multi"] = values?.first.map(String.init)
        case .joinsCookies: response.header[.setCookie] = response.header[.setCookie]
        case .cutsBodies: response.body = response.body.prefix(1_000_000)
        case .fillsEmptyBodies where response.body.isEmpty: response.body = Data("{}".utf8)
        case .forgetsUrl: response.url = nil
        case .keepsCookies: cookie = response.header[.setCookie] ?? cookie
        case .remembersAnswers:
            response = answers[request.url.path] ?? response
            answers[request.url.path] = response
        case .limitsHead:
            let length = response.header[.contentLength].flatMap { Int($0) } ?? 0
            if let limit, length > limit { throw TransportError.responseTooLarge(limit: limit) }
        default: break
        }
        return response
    }

    private nonisolated func spoiled(_ error: any Error) -> any Error {
        switch (flaw, error) {
        case (.swapsDelivery, TransportError.failed(let code, let delivery, let reason)):
            let other: Delivery = delivery == .notSent ? .maybeExecuted : .notSent
            return TransportError.failed(code, delivery: other, reason: reason)
        case (.renamesCancellation, is CancellationError):
            return URLError(.cancelled)
        default:
            return error
        }
    }
}

extension HttpRequest {
    /// Whether the server's answer has a body that fails.
    fileprivate var hasBrokenAnswer: Bool {
        ["cut", "miscoded", "transfer-coded"].contains { url.path.hasPrefix("/\($0)/") }
    }
}

extension URL {
    /// Another path on the same server.
    fileprivate func replacingPath(by path: String) -> URL {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        components.path = path
        components.query = nil
        return components.url ?? self
    }
}

/// The chunks of a body, cut off behind a number of bytes, its errors changed.
private struct SpoiledChunks: AsyncSequence, Sendable {
    typealias Element = Data
    let body: HttpBodyStream
    let limit: Int
    let spoil: @Sendable (any Error) -> any Error

    init(of body: HttpBodyStream, limit: Int, _ spoil: @escaping @Sendable (any Error) -> any Error) {
        (self.body, self.limit, self.spoil) = (body, limit, spoil)
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(chunks: body.makeAsyncIterator(), left: limit, spoil: spoil)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        var chunks: HttpBodyStream.AsyncIterator
        var left: Int
        let spoil: @Sendable (any Error) -> any Error

        mutating func next() async throws -> Data? {
            do {
                guard left > 0, let chunk = try await chunks.next()?.prefix(left) else { return nil }
                left -= chunk.count
                return Data(chunk)
            } catch {
                throw spoil(error)
            }
        }
    }
}
